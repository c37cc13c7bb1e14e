<?php
// What ab asks for: some page of the site, opened with fopen() as the document's script did.
$weights = ['front' => 25, 'news' => 35, 'prices' => 15, 'product' => 15, 'reader' => 8, 'poll' => 2];
$at = mt_rand(1, array_sum($weights));
foreach ($weights as $page => $weight) {
    $at -= $weight;
    if ($at <= 0) {
        break;
    }
}
$file = fopen("http://127.0.0.1:{port}/page.php?p=$page", 'r');
if ($file === false) {
    http_response_code(500);
    exit;
}
// Pages differ in length and ab counts a length unlike the first as a failure.
$bytes = strlen(stream_get_contents($file));
fclose($file);
printf('%08d', $bytes);
