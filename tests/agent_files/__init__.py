"""Agents saved by released versions, and what each chose next."""
