"""The heaps, windows and pools under the estimators."""
