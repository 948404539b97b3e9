"""What the weights of a model are known to be: releases after the features are fixed."""
