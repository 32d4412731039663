"""Source pictures and the stimuli made from them."""
