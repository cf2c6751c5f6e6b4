-- The tools that an answer invokes, by the original program's five patterns (backtick, quote, shell
-- prompt, XML, bracket): in lower case, in the order of the patterns, without repetitions.
CREATE OR REPLACE MACRO openclaw_tools(answer) AS
    -- A list of one list binds the matches to a name, so that they are computed only once.
    list_transform(
        [tool_mentions(answer)],
        lambda found: list_filter(
            found, lambda name, nth: list_position(found, name) = nth
        )
    )[1]
