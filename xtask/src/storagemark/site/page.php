<?php
// One page of the site. Queries are those a news-and-prices site of its time makes: lists by date,
// an article with its comments, price lists; a few small writes with every page.
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$db = new mysqli('localhost', 'root', '', 'site', 0, '{socket}');

function rows(string $sql): array
{
    global $db;
    return $db->query($sql)->fetch_all(MYSQLI_ASSOC);
}

// Recent news are read far more than old ones.
function some_news(): int
{
    return max(1, {news} - (int) floor({news} * pow(mt_rand() / mt_getrandmax(), 4)));
}

function visit(string $page): void
{
    global $db;
    $db->query("UPDATE sessions SET seen = NOW(), page = '$page' WHERE id = " . mt_rand(1, {authors}));
}

function front(): array
{
    return [
        rows('SELECT id, title, lead, views FROM news ORDER BY posted DESC LIMIT 20'),
        rows('SELECT n.id, COUNT(c.id) FROM (SELECT id FROM news ORDER BY posted DESC LIMIT 20) n'
            . ' LEFT JOIN comments c ON c.news = n.id GROUP BY n.id'),
        rows('SELECT choice, COUNT(*) FROM votes WHERE poll = 1 GROUP BY choice'),
    ];
}

function news(): array
{
    global $db;
    $id = some_news();
    $db->query("UPDATE news SET views = views + 1 WHERE id = $id");
    if (mt_rand(1, 20) === 1) {
        $text = str_repeat(md5((string) mt_rand()), mt_rand(2, 20));
        $db->query("INSERT INTO comments (news, author, posted, score, body)"
            . " VALUES ($id, " . mt_rand(1, {authors}) . ", NOW(), 0, '$text')");
    }
    return [
        rows("SELECT n.*, a.name FROM news n JOIN authors a ON a.id = n.author WHERE n.id = $id"),
        rows("SELECT c.*, a.name FROM comments c JOIN authors a ON a.id = c.author"
            . " WHERE c.news = $id ORDER BY c.posted LIMIT 50"),
    ];
}

function prices(): array
{
    $category = mt_rand(0, 119);
    $from = mt_rand(0, 3) * 25;
    return [
        rows("SELECT p.id, p.name, MIN(o.cents), COUNT(*) FROM (SELECT id, name FROM products"
            . " WHERE category = $category ORDER BY id LIMIT $from, 25) p"
            . " JOIN prices o ON o.product = p.id GROUP BY p.id"),
        rows("SELECT COUNT(*) FROM products WHERE category = $category"),
    ];
}

function product(): array
{
    global $db;
    $id = mt_rand(1, {products});
    if (mt_rand(1, 10) === 1) {
        $db->query("UPDATE prices SET cents = cents + 5, changed = NOW() WHERE product = $id LIMIT 3");
    }
    return [
        rows("SELECT * FROM products WHERE id = $id"),
        rows("SELECT o.*, s.name, s.rating FROM prices o JOIN shops s ON s.id = o.shop"
            . " WHERE o.product = $id ORDER BY o.cents"),
    ];
}

function reader(): array
{
    $id = mt_rand(1, {authors});
    return [
        rows("SELECT * FROM authors WHERE id = $id"),
        rows("SELECT c.id, c.posted, n.title FROM comments c JOIN news n ON n.id = c.news"
            . " WHERE c.author = $id ORDER BY c.id DESC LIMIT 20"),
    ];
}

function poll(): array
{
    global $db;
    $db->query('INSERT INTO votes (poll, choice, session, cast_at) VALUES (1, '
        . mt_rand(1, 5) . ', ' . mt_rand(1, {authors}) . ', NOW())');
    return rows('SELECT choice, COUNT(*) FROM votes WHERE poll = 1 GROUP BY choice');
}

$pages = ['front', 'news', 'prices', 'product', 'reader', 'poll'];
$page = in_array($_GET['p'] ?? '', $pages, true) ? $_GET['p'] : 'front';
visit($page);
echo json_encode($page());
