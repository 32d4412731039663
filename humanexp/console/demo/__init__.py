"""The demo: the product's own steps in a row, from pictures to a dashboard, with people whose true curves are known."""
