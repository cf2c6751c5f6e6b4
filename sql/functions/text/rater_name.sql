-- What a rater is called in figures: people together, settled labels together, a judge by its name, and whether it
-- was shown a reference answer.
CREATE OR REPLACE MACRO rater_name(rater, rater_kind, rater_config) AS
    CASE
        WHEN rater_kind = 'human' THEN 'people'
        WHEN rater_kind = 'gold' THEN 'gold'
        ELSE concat_ws(
            ' ',
            coalesce(rater, rater_kind),
            CASE WHEN (rater_config ->> '$.with_reference') = 'true' THEN 'with reference' END
        )
    END
