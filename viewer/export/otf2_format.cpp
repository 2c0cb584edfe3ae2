// pclscope export --to otf2: for Vampir, Scalasca and whatever else reads OTF2.
#include "viewer/export/format.hpp"
#include "viewer/export/otf2_archive.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::exporting {
namespace {

class Otf2Sink final : public Sink {
 public:
  Otf2Sink(const Run& run, Otf2Contents contents, std::unique_ptr<Otf2Archive> archive)
      : choice_(run.choice), contents_(std::move(contents)), events_(contents_), archive_(std::move(archive)) {}

  Status add(const Slice& slice) override {
    const auto& events = events_.of(slice, choice_);
    for (std::size_t location = 0; location < events.size(); ++location)
      if (const Status written = archive_->write(location, events[location]); !written) return written;
    return {};
  }
  Status finish() override { return archive_->finish(); }
  std::string wrote() const override {
    return text::format_count(archive_->events()) + " events of " + text::format_count(contents_.locations()) +
           (contents_.locations() == 1 ? " location" : " locations") + " (traces.otf2 is the file to open)";
  }

 private:
  const Choice& choice_;
  Otf2Contents contents_;
  TraceEvents events_;
  std::unique_ptr<Otf2Archive> archive_;
};

Result<std::unique_ptr<Sink>> open(const Run& run, const std::string& path, const Progress& progress) {
  auto contents = otf2_contents(run, progress);
  if (!contents) return contents.error();
  auto archive = Otf2Archive::create(run, *contents, path);
  if (!archive) return archive.error();
  return std::unique_ptr<Sink>(std::make_unique<Otf2Sink>(run, std::move(*contents), std::move(*archive)));
}

}  // namespace

extern const FileFormat otf2_format;
const FileFormat otf2_format{"otf2", "an OTF2 archive, for Vampir, Scalasca and others",  ".otf2",
                             true,   needs::messages | needs::calls | needs::collectives, open};

}  // namespace pclscope::exporting
