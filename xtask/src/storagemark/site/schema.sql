-- A site of news, readers' comments and prices, filled without a client: the numbers in braces are
-- put in by the program. Text is hashes; a database neither reads nor squeezes it here.
CREATE DATABASE site;
USE site;
SET unique_checks = 0, foreign_key_checks = 0;

CREATE TABLE authors (id INT PRIMARY KEY, name VARCHAR(40), joined DATE, posts INT) ENGINE=InnoDB;
CREATE TABLE news (
  id INT PRIMARY KEY, author INT, section TINYINT, posted DATETIME, views INT,
  title VARCHAR(120), lead VARCHAR(400), body TEXT,
  KEY posted (posted), KEY section (section, posted)
) ENGINE=InnoDB;
CREATE TABLE comments (
  id INT AUTO_INCREMENT PRIMARY KEY, news INT, author INT, posted DATETIME, score TINYINT,
  body VARCHAR(2000), KEY news (news, posted), KEY author (author)
) ENGINE=InnoDB;
CREATE TABLE shops (id INT PRIMARY KEY, name VARCHAR(40), town VARCHAR(40), rating INT) ENGINE=InnoDB;
CREATE TABLE products (
  id INT PRIMARY KEY, category SMALLINT, name VARCHAR(80), description VARCHAR(1200),
  KEY category (category)
) ENGINE=InnoDB;
CREATE TABLE prices (
  product INT, shop INT, cents INT, changed DATETIME, address VARCHAR(120),
  PRIMARY KEY (product, shop), KEY shop (shop)
) ENGINE=InnoDB;
CREATE TABLE sessions (id INT PRIMARY KEY, author INT, seen DATETIME, page VARCHAR(60)) ENGINE=InnoDB;
CREATE TABLE votes (
  id INT AUTO_INCREMENT PRIMARY KEY, poll INT, choice TINYINT, session INT, cast_at DATETIME,
  KEY poll (poll, choice)
) ENGINE=InnoDB;

INSERT INTO authors
  SELECT seq, MD5(seq), '2004-01-01' - INTERVAL seq % 2000 DAY, seq % 900 FROM seq_1_to_{authors};
INSERT INTO news
  SELECT seq, 1 + CRC32(seq) % 50, CRC32(seq) % 12,
    '2004-06-01' - INTERVAL ({news} - seq) * 40 MINUTE, 0, MD5(seq), REPEAT(MD5(seq), 8),
    REPEAT(MD5(-seq), 40 + CRC32(seq) % 170) FROM seq_1_to_{news};
INSERT INTO comments (news, author, posted, score, body)
  SELECT 1 + CRC32(seq) % {news}, 1 + CRC32(-seq) % {authors},
    '2004-06-01' - INTERVAL ({comments} - seq) MINUTE, seq % 6 - 1,
    REPEAT(MD5(seq), 2 + CRC32(CONCAT('c', seq)) % 20) FROM seq_1_to_{comments};
INSERT INTO shops SELECT seq, MD5(seq), MD5(-seq), CRC32(seq) % 500 FROM seq_1_to_250;
INSERT INTO products
  SELECT seq, CRC32(seq) % 120, MD5(seq), REPEAT(MD5(-seq), 4 + CRC32(seq) % 30)
  FROM seq_1_to_{products};
INSERT INTO prices
  SELECT 1 + (seq - 1) DIV 25, 1 + (CRC32((seq - 1) DIV 25) + (seq - 1) % 25 * 10) % 250,
    CRC32(seq) % 99900, '2004-06-01' - INTERVAL seq % 20000 MINUTE, CONCAT('/offer/', MD5(seq))
  FROM seq_1_to_{prices};
INSERT INTO sessions SELECT seq, CRC32(seq) % {authors}, '2004-06-01', '/' FROM seq_1_to_{authors};
