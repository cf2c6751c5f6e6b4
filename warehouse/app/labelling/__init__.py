"""Labels of people: samples of answers, and the files, pages and terminal that ask for labels."""
