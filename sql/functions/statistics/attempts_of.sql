-- The scores of the attempts at a task, of the number that passed. Which of them passed matters only
-- for the first.
CREATE OR REPLACE MACRO attempts_of(attempts, passed, first_passed) AS
    CASE
        WHEN first_passed THEN repeat([1.0::DOUBLE], passed)
            || repeat([0.0::DOUBLE], attempts - passed)
        ELSE repeat([0.0::DOUBLE], attempts - passed) || repeat([1.0::DOUBLE], passed)
    END
