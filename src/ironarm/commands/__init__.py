"""The command line's verbs, one file each.

`add` describes the verb's options, `run` does the job. A new verb is one file, its
test, and one line in `cli.VERBS`.
"""
