"""The verbs of the command line, one module each: `add` describes the arguments, `run` does the job."""
