/* The page's style sheet. Inline, so that the page is one file; system fonts, so that it asks
 * nobody. Colours are those of palette.c. */
#include "internal.h"

static const char *const sheet[] = {
    /* Type and sections */
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "main{max-width:1040px;margin:0 auto;padding:48px 28px 40px}a{color:var(--accent)}\n"
    "h1{font-size:34px;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 6px;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:19px;font-weight:650;margin:0 0 4px}p{margin:0}small{color:var(--soft)}\n"
    "header p{color:var(--soft)}header .facts{margin-top:10px;font-size:14px}"
    ".facts span+span::before{content:'\\b7';margin:0 .55em}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:14px;"
    "padding:24px 26px;margin-top:20px}section>.lead{color:var(--soft);font-size:14px;"
    "margin-bottom:14px;max-width:90ch}\n",
    /* Boxes and cards */
    ".box{border-radius:14px;padding:18px 22px;margin-top:20px;border:1px solid var(--note-edge);"
    "background:var(--note)}.box.warn,.box.open{border-color:var(--warn-edge);"
    "background:var(--warn-soft)}.box.win{border-color:var(--win);background:var(--win-soft)}"
    ".box h2{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline}"
    ".box.warn h2,.box.open h2{color:var(--warn)}.box.win h2{color:var(--win)}"
    ".box p{max-width:82ch;overflow-wrap:anywhere;white-space:pre-line}.box p+p{margin-top:6px}"
    ".box .say{font-size:22px;line-height:1.35;font-weight:600;max-width:none}"
    ".say::first-letter{text-transform:uppercase}\n"
    ".tag{font-size:12.5px;font-weight:600;font-style:normal;padding:1px 9px;border-radius:99px;"
    "color:var(--accent);border:1px solid currentColor}.box.warn .tag{color:var(--warn)}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(225px,1fr));gap:14px;"
    "margin-top:20px}.card{background:var(--card);border:1px solid var(--line);"
    "border-radius:14px;padding:14px 18px}.card .what{font-size:13.5px;color:var(--soft)}"
    ".card .value{font-size:27px;line-height:1.25;font-weight:620;letter-spacing:-.02em}"
    ".card small{font-size:16px;font-weight:500;letter-spacing:0}"
    ".card .more{font-size:13px;color:var(--soft)}"
    ".card.main{border-color:var(--accent);box-shadow:inset 0 3px 0 var(--accent)}"
    ".card.warn .value{color:var(--warn)}\n",
    /* Figures */
    ".chart svg{display:block;width:100%;height:auto;overflow:visible}"
    ".fig.narrow,.legend .narrow{display:none}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 22px;font-size:14px;color:var(--soft);"
    "margin:8px 0 0;padding:0;list-style:none}.legend li{display:flex;align-items:center;gap:8px;"
    "min-width:0;overflow-wrap:anywhere}.legend svg{flex:none}\n",
    /* Tables */
    "table{width:100%;border-collapse:collapse;font-size:14.5px}"
    "th{font-weight:400;text-align:left}"
    "thead th{font-size:12.5px;font-weight:600;color:var(--soft);padding:6px 10px;"
    "border-bottom:1px solid var(--line);vertical-align:bottom}"
    "tbody th,td{padding:7px 10px;border-bottom:1px solid var(--line);"
    "vertical-align:middle}tbody tr:last-child>*{border-bottom:0}"
    ".plain tr>:first-child{padding-left:0}.plain tr>:last-child{padding-right:0}"
    ".long{min-width:13em}.n{text-align:right;white-space:nowrap}.soft{color:var(--soft)}"
    ".scroll{overflow-x:auto}.scroll:focus-visible{"
    "outline:2px solid var(--accent)}"
    "code{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);"
    "overflow-wrap:anywhere}.what small{display:block;font-size:13px}"
    ".what code{font-size:12px}\n"
    ".arms{table-layout:fixed;font-size:14px}.arms tbody th,.arms td{padding-top:5px;"
    "padding-bottom:5px}.arms .name{display:flex;align-items:center;flex-wrap:wrap;gap:2px 8px}"
    ".arms .name>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".arms .win th,.arms .win td{background:var(--win-soft);font-weight:600}"
    ".arms .win th{border-radius:8px 0 0 8px;box-shadow:inset 3px 0 0 var(--win)}"
    ".arms .win td:last-child{border-radius:0 8px 8px 0}"
    ".arms .win .tag{color:var(--win);font-size:11.5px}.arms small{font-size:12px;"
    "font-weight:400}\n"
    ".bar{display:flex;align-items:center;flex-wrap:wrap;gap:0 10px}"
    ".bar>div{flex:1 1 50px;height:8px;border-radius:4px;background:var(--track);"
    "position:relative;min-width:40px}.bar b,.bar u,.bar s{position:absolute;top:0;height:8px;"
    "border-radius:4px}.bar b{background:var(--accent)}.bar u{background:var(--accent);opacity:.4}"
    ".bar s{width:10px;height:10px;top:-1px;margin-left:-5px;border-radius:5px;"
    "background:var(--accent)}.win .bar b{background:var(--win)}"
    ".bar>span{flex:0 0 auto;min-width:58px;white-space:nowrap}.bar>span.wide{min-width:112px}\n"
    ".settings{margin:0;columns:3 260px;column-gap:28px;font-size:14px}"
    ".settings div{break-inside:avoid;padding:4px 0}.settings .across{column-span:all;"
    "break-inside:auto}.settings dt,.settings dd{margin:0;"
    "overflow-wrap:anywhere}.settings dd{white-space:pre-line}"
    ".files{margin:0;padding-left:20px;font-size:14.5px}.files .copy{display:block;"
    "font-size:13px}\n"
    /* A paper: figures beside words, verdicts */
    "h3{font-size:14px;font-weight:650;margin:14px 0 2px}.pair{display:grid;"
    "grid-template-columns:minmax(0,1.9fr) minmax(0,1fr);gap:26px;margin-top:12px}"
    ".pair p{font-size:14.5px;color:var(--soft)}.pair h3:first-child{margin-top:0}"
    ".claims{margin-top:14px;table-layout:fixed;min-width:640px}.claims "
    "th:nth-child(1){width:128px}"
    ".claims th:nth-child(3){width:172px}.claims th:nth-child(4){width:118px}.claims "
    "td{vertical-align:top}.claims .why{color:var(--soft);margin-top:4px;max-width:74ch}"
    ".verdict{font-size:12.5px;font-weight:600;padding:1px 9px;border-radius:99px;"
    "white-space:nowrap;border:1px solid currentColor}.verdict.yes{color:var(--win)}"
    ".verdict.no,.verdict.open{color:var(--warn)}\n"
    "details{margin-top:10px}summary{cursor:pointer;color:var(--accent);font-size:14px;"
    "padding:6px 10px;border-radius:8px}\n"
    "footer{margin-top:28px;font-size:13px;color:var(--soft)}\n",
    /* Narrow: figures keep letters that can be read, bars give way to their numbers */
    "@media (max-width:860px){.pair{grid-template-columns:minmax(0,1fr)}}\n"
    "@media screen and (max-width:640px){main{padding:24px 14px}section,.box{padding:18px 14px}"
    "h1{font-size:27px}.cards{grid-template-columns:repeat(2,minmax(0,1fr));gap:10px}"
    ".card{padding:12px}.card .value{font-size:21px}.card small{font-size:13px}"
    ".fig.broad,.legend .broad{display:none}.fig.narrow{display:block}"
    ".legend .narrow{display:flex}.bar>div{display:none}"
    ".bar>span,.bar>span.wide{min-width:0;white-space:normal}thead .n{"
    "white-space:normal}.arms tbody th,.arms td{padding-left:4px;"
    "padding-right:4px}.arms thead th{padding-left:4px;padding-right:4px;hyphens:auto}"
    ".arms small{display:block}.plain tr>:first-child{min-width:132px}}\n",
    /* On paper: two sheets for most experiments, nothing that scrolls or unfolds */
    "@page{size:A4;margin:10mm}\n"
    "@media print{body{background:none;font-size:8.2pt;line-height:1.3}main{max-width:none;"
    "padding:0}h1{font-size:16pt}h2{font-size:10pt;margin-bottom:2pt}"
    "section,.box,.card{border-radius:4px}section,.box{padding:4pt 8pt;margin-top:5pt}"
    "section>.lead{font-size:7.6pt;margin-bottom:2pt;max-width:none}.box p{max-width:none}"
    ".box p+p{margin-top:2pt}.box .say{font-size:11.5pt}header .facts{margin-top:2pt;"
    "font-size:8.2pt}.cards{grid-template-columns:repeat(auto-fit,minmax(80pt,1fr));gap:4pt;"
    "margin-top:5pt}.card{padding:3pt 6pt}.card .value{font-size:12pt}.card .what,"
    ".card small{font-size:7.2pt}.card .more{display:none}"
    ".chart{max-width:235pt;margin:0 auto}"
    ".legend{margin-top:2pt;justify-content:center}"
    ".scroll{overflow:visible}table,.arms,.claims{font-size:7.6pt;min-width:0}"
    ".long{min-width:0}.cells .n{white-space:normal}"
    "thead th,tbody th,td,.arms tbody th,.arms td{padding-top:.8pt;padding-bottom:.8pt}"
    "thead th,.legend,.settings,.files,.pair p,.tag,.verdict,.arms small{font-size:7.2pt}"
    ".plain .what{width:58%}.what small{display:inline;font-size:7.2pt}"
    "code,.what code{font-size:6.8pt}.arms .tag{font-size:6.6pt;padding:0 4pt}"
    ".settings{columns:3 130pt;column-gap:12pt}.settings div{padding:.6pt 0}"
    ".settings dt,.settings dd{display:inline;margin-right:4pt}.files{columns:2}"
    ".copy,#said small,#said .lead,#metrics .lead,#settings>.lead,#data .lead{"
    "display:none}.figures{display:grid;grid-template-columns:1fr 1fr;gap:0 8pt}"
    ".bar,.bar *{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".card,tr,.chart{break-inside:avoid}h2,.lead{break-after:avoid}"
    ".pair{grid-template-columns:minmax(0,1.4fr) minmax(0,1fr)}footer{margin-top:4pt;"
    "font-size:7.2pt}}\n",
};

void report_html_style(FILE *out)
{
    (void)fputs("<style>\n", out);
    report_palette_rules(out);
    for (size_t i = 0; i < sizeof sheet / sizeof sheet[0]; i++)
        (void)fputs(sheet[i], out);
    report_figure_rules(out);
    (void)fputs("</style>\n", out);
}
