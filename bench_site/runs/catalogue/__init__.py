"""The catalogue that the site is seeded with: facts with their public sources, as CSV files in this folder.

What each column means is said in ``sheets``; how the rows reach the tables in ``bench_site.runs.seed``.
"""
