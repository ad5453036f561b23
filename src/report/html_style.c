/* The page's style sheet. Inline, so that the page is one file; system fonts, so that it asks
 * nobody. */
#include "internal.h"

static const char *const sheet[] = {
    /* Colours and type */
    ":root{color-scheme:light dark;--page:#f6f7f6;--card:#fff;--ink:#1b2226;--soft:#5a676e;"
    "--faint:#8b979d;--line:#e2e7e8;--accent:#17677f;--band:rgba(23,103,127,.16);"
    "--track:#e8edee;--win:#0f7b5f;--win-soft:#e6f4ef;--note:#eef4f6;--note-edge:#8fb6c3;"
    "--warn:#8a4b08;--warn-soft:#fdf3e1;--warn-edge:#e0a040}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#12171a;--card:#1a2125;--ink:#e6ebed;"
    "--soft:#a3b0b6;--faint:#76848b;--line:#2b353a;--accent:#6cc3dc;"
    "--band:rgba(108,195,220,.18);--track:#2a3439;--win:#5fd0a8;--win-soft:#17302a;"
    "--note:#182830;--note-edge:#2f6274;--warn:#f2bd6b;--warn-soft:#2e2414;--warn-edge:#a06d1c}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "main{max-width:1040px;margin:0 auto;padding:48px 28px 40px}\n"
    "h1{font-size:34px;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 6px;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:19px;font-weight:650;margin:0 0 4px}p{margin:0}\n"
    "header p{color:var(--soft)}header .facts{margin-top:10px;font-size:14px}"
    ".facts span+span::before{content:'\\b7';margin:0 .55em;color:var(--faint)}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:14px;"
    "padding:24px 26px;margin-top:20px}section>.lead{color:var(--soft);font-size:14px;"
    "margin-bottom:16px}\n",
    /* Boxes and cards */
    ".box{border-radius:14px;padding:18px 22px;margin-top:20px;border:1px solid var(--note-edge);"
    "background:var(--note)}.box.warn{border-color:var(--warn-edge);background:var(--warn-soft)}"
    ".box h2{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline}"
    ".box.warn h2{color:var(--warn)}"
    ".box p{max-width:78ch;overflow-wrap:anywhere;white-space:pre-line}"
    ".tag{font-size:12.5px;font-weight:600;padding:1px 9px;border-radius:99px;color:var(--accent);"
    "border:1px solid currentColor}.box.warn .tag{color:var(--warn)}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(270px,1fr));gap:14px;"
    "margin-top:20px}.card{background:var(--card);border:1px solid var(--line);"
    "border-radius:14px;padding:16px 20px}.card .what{font-size:13.5px;color:var(--soft)}"
    ".card .value{font-size:29px;line-height:1.25;font-weight:620;letter-spacing:-.02em}"
    ".card small{font-size:16px;font-weight:500;letter-spacing:0;color:var(--soft)}"
    ".card .more{font-size:13px;color:var(--faint)}"
    ".card.main{border-color:var(--accent);box-shadow:inset 0 3px 0 var(--accent)}"
    ".card.warn .value{color:var(--warn)}\n",
    /* Chart */
    ".chart{overflow-x:auto}.chart svg{display:block;width:100%;min-width:560px;height:auto}"
    ".chart text{font-size:13px;fill:var(--soft)}.chart .grid{stroke:var(--line)}"
    ".chart .axis{stroke:var(--faint)}.chart .band{fill:var(--band)}"
    ".chart .curve{fill:none;stroke:var(--accent);stroke-width:2.4;stroke-linejoin:round;"
    "stroke-linecap:round}.chart .dot{fill:var(--accent)}"
    ".chart .whisker{stroke:var(--accent);stroke-width:1.6}"
    ".chart .end{font-size:14px;font-weight:650;fill:var(--accent)}\n"
    ".pt .hit{fill:transparent}.pt .show{visibility:hidden}.pt:hover .show{visibility:visible}"
    ".pt line.show{stroke:var(--faint);stroke-dasharray:3 3}"
    ".pt circle.show{fill:var(--accent);stroke:var(--card);stroke-width:2}"
    ".chart .pt text.show{fill:var(--ink);font-size:14px}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 22px;font-size:13px;color:var(--soft);"
    "margin-top:8px}.legend i{display:inline-block;width:22px;margin-right:8px;"
    "vertical-align:middle}.legend .l{height:3px;border-radius:2px;background:var(--accent)}"
    ".legend .b{height:12px;border-radius:3px;background:var(--band)}\n",
    /* Tables */
    "table{width:100%;border-collapse:collapse;font-size:14.5px}"
    "th{font-size:12.5px;font-weight:600;color:var(--soft);text-align:left;padding:6px 10px;"
    "border-bottom:1px solid var(--line)}td{padding:7px 10px;border-bottom:1px solid var(--line);"
    "vertical-align:middle}tr:last-child td{border-bottom:0}"
    "td:first-child,th:first-child{padding-left:0}td:last-child,th:last-child{padding-right:0}"
    ".n{text-align:right;white-space:nowrap}.soft{color:var(--soft)}.scroll{overflow-x:auto}"
    "code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    ".arms{table-layout:fixed;min-width:640px;font-size:14px}.arms td{padding-top:5px;"
    "padding-bottom:5px}.arms td:first-child,.arms th:first-child{padding-left:10px}"
    ".arms td:last-child{padding-right:10px}"
    ".arms .name{display:flex;align-items:center}.arms .name span{overflow:hidden;"
    "text-overflow:ellipsis;white-space:nowrap}"
    ".arms .win td{background:var(--win-soft);font-weight:600}"
    ".arms .win td:first-child{border-radius:8px 0 0 8px;box-shadow:inset 3px 0 0 var(--win)}"
    ".arms .win td:last-child{border-radius:0 8px 8px 0}"
    ".arms .win .tag{color:var(--win);margin-left:8px;font-size:11.5px;font-style:normal;"
    "white-space:nowrap}\n"
    ".bar{display:flex;align-items:center;gap:12px}.bar>span{flex:0 0 62px;text-align:right}"
    ".bar>div{flex:1;height:8px;border-radius:4px;background:var(--track);position:relative;"
    "min-width:40px}.bar b,.bar u,.bar s{position:absolute;top:0;height:8px;border-radius:4px}"
    ".bar b{background:var(--accent)}.bar u{background:var(--accent);opacity:.4}"
    ".bar s{width:10px;height:10px;top:-1px;margin-left:-5px;border-radius:5px;"
    "background:var(--accent)}.win .bar b{background:var(--win)}"
    ".bar>span.wide{flex-basis:116px}\n"
    /* A paper: figures beside words, verdicts */
    "h3{font-size:14px;font-weight:650;margin:14px 0 2px}.pair{display:grid;"
    "grid-template-columns:minmax(0,1.9fr) minmax(0,1fr);gap:26px;margin-top:12px}"
    ".pair p{font-size:14.5px;color:var(--soft)}.pair h3:first-child{margin-top:0}"
    ".fig{display:block;width:100%;height:auto}"
    ".claims{margin-top:14px;table-layout:fixed;min-width:640px}.claims "
    "th:nth-child(1){width:128px}"
    ".claims th:nth-child(3){width:172px}.claims th:nth-child(4){width:118px}.claims "
    "td{vertical-align:top}.claims .why{color:var(--soft);"
    "margin-top:4px;max-width:74ch}.claims code{color:var(--faint);overflow-wrap:anywhere}"
    ".verdict{font-size:12.5px;font-weight:600;padding:1px 9px;border-radius:99px;"
    "white-space:nowrap;border:1px solid currentColor}.verdict.yes{color:var(--win)}"
    ".verdict.no,.verdict.open{color:var(--warn)}\n"
    "@media (max-width:860px){.pair{grid-template-columns:minmax(0,1fr)}}\n"
    "details{margin-top:10px}summary{cursor:pointer;color:var(--accent);font-size:14px;"
    "padding:6px 10px;border-radius:8px}summary:hover{background:var(--note)}\n"
    "footer{margin-top:28px;font-size:13px;color:var(--faint)}\n"
    "@media (max-width:640px){main{padding:28px 16px}section{padding:20px 16px}h1{font-size:27px}}"
    "\n@media print{body{background:#fff}section,.card,.box{break-inside:avoid}}\n",
};

void report_html_style(FILE *out)
{
    (void)fputs("<style>\n", out);
    for (size_t i = 0; i < sizeof sheet / sizeof sheet[0]; i++)
        (void)fputs(sheet[i], out);
    report_figure_rules(out);
    (void)fputs("</style>\n", out);
}
