-- Decisions and rewards mixed: every id that comes back is rewarded by a later request.
local ids, k = {}, 0
request = function()
  k = k + 1
  local id = table.remove(ids)
  if id then
    return wrk.format("PUT", "/v1/decisions/" .. id .. "/reward", wrk.headers,
                      string.format('{"value": %.3f}', math.random()))
  end
  return wrk.format("POST", "/v1/agents/a" .. (k % tonumber(os.getenv("AGENTS"))) .. "/decisions",
                    wrk.headers, nil)
end
response = function(status, headers, body)
  if status == 201 then
    ids[#ids + 1] = string.match(body, '"id":"([^"]+)"')
  elseif status ~= 200 then
    io.stderr:write(status .. " " .. body .. "\n")
  end
end
init = function(args)
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
  wrk.headers["Content-Type"] = "application/json"
end
done = function(summary, latency, requests)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.status + summary.errors.timeout
  io.write(string.format('RESULT {"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "errors": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, bad))
end
