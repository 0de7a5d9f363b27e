"""Rows and geometries as data frames and Arrow tables."""
