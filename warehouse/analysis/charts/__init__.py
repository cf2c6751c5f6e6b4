"""What draws a chart, by Vega-Altair: panels, axes, look; written as SVG, PNG and HTML."""
