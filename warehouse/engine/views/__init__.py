"""The views: their SQL files, what their columns mean, and the empty warehouse that has them."""
