-- A verdict in the form that `openclaw_verdict` returns. `violation` is kept only where it fails.
CREATE OR REPLACE MACRO verdict(passes, violation, parsed_output) AS
    struct_pack(
        objective_pass := passes,
        violation := CASE WHEN passes THEN NULL ELSE violation END,
        parsed_output := CAST(parsed_output AS VARCHAR)
    )
