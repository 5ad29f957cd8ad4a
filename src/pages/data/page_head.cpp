#include "pages/data/page_head.h"

namespace rankscope {

void add_head(PageBlob& page, const PageHead& head) {
  JsonWriter& json = page.json;
  json.text("kind", head.kind);
  json.text("title", head.title);
  json.text("subtitle", head.subtitle);
  json.text("command", head.command);
  json.text("version", RANKSCOPE_VERSION);
  json.integer("begun_ms", head.begun_ns / 1'000'000);
  json.begin_list("badges");
  for (const PageBadge& b : head.badges) {
    json.begin_object();
    json.text("severity", b.severity);
    json.text("text", b.text);
    json.text("more", b.more);
    json.end_object();
  }
  json.end_list();
  json.begin_list("findings");
  for (const Finding& f : head.findings) {
    json.begin_object();
    json.text("rule", f.rule);
    json.text("kind", finding_kind_name(f.kind));
    json.text("headline", f.headline);
    json.text("evidence", f.evidence);
    json.text("action", f.action);
    if (f.place) {
      json.begin_object("place");
      json.integer("rank", f.place->rank);
      json.integer("start", f.place->start_ns);
      json.integer("end", f.place->end_ns);
      json.end_object();
    }
    json.end_object();
  }
  json.end_list();
  json.begin_list("next");
  for (const PageNext& n : head.next) {
    json.begin_object();
    json.text("command", n.command);
    json.text("why", n.why);
    json.end_object();
  }
  json.end_list();
  json.texts("files", head.files);
  json.begin_list("links");
  for (const PageLink& l : head.links) {
    json.begin_object();
    json.text("label", l.label);
    json.text("address", l.address);
    json.end_object();
  }
  json.end_list();
}

} // namespace rankscope
