"""Reads labels of people: the tables that `evalstore label export` wrote, filled in."""
