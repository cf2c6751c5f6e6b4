-- The tools that an answer invokes, by the original program's five patterns (backtick, quote, shell
-- prompt, XML, bracket): in lower case, in the patterns' order, each once.
CREATE OR REPLACE MACRO openclaw_tools(answer) AS
    -- The list of one list gives the names found a name, so that they are found once.
    list_transform(
        [named_tools(answer)],
        lambda found: list_filter(
            found, lambda name, nth: list_position(found, name) = nth
        )
    )[1]
