"""One file a command. Nothing heavy is imported at the top of any: ``fuseboard --help`` reads all of them."""
