# ironarm serve. NOT TESTED: this file was never run, because the machines on which ironarm is
# developed have no Docker engine.
#   docker build -t ironarm .
#   docker run --rm -v agents:/data ironarm ironarm keys add web --scope admin --data /data
#   docker run -p 8321:8321 -v agents:/data ironarm
# Without a key it refuses to listen beyond the container's own loopback address.
FROM python:3.12-slim
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir ".[serve]"
# compile what the default policy needs once, into the image
ENV IRONARM_CACHE_DIR=/var/cache/ironarm
RUN useradd --create-home ironarm && mkdir -p /data /var/cache/ironarm \
    && chown ironarm /data /var/cache/ironarm
USER ironarm
RUN ironarm warm
VOLUME /data
EXPOSE 8321
CMD ["ironarm", "serve", "--data", "/data", "--host", "0.0.0.0"]
