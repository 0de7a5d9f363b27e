"""What a notebook shows of a dataset."""
