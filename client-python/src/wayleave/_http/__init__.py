"""Requests: sending, retrying, streaming, and what is kept of responses."""
