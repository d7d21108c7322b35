-- +goose Up

-- A comment from whose stored text a link was removed is never edited: an edit would take the link from the reader.
ALTER TABLE replies ADD COLUMN link_removed boolean NOT NULL DEFAULT false;
UPDATE replies SET link_removed = true WHERE external_id > 0 AND strpos(body, '/links/…') > 0;

-- +goose Down
ALTER TABLE replies DROP COLUMN link_removed;
