import ExampleSupport

/// Draws a box with lines of text over the timeline.
struct PanelRenderer {
    let panel: TimelineState.Panel
    let state: TimelineState

    func draw(on frame: inout ScreenBuffer) {
        let room = max(10, frame.size.width - 8)
        let lines = lines.flatMap { TextWrapping.lines(OneLine.text($0), width: room) }
            .prefix(max(1, frame.size.height - 5))
        let width = max(DisplayWidth.of(title) + 2, lines.map { DisplayWidth.of($0) }.max() ?? 0) + 4
        let left = max(0, (frame.size.width - width) / 2)
        let top = max(1, (frame.size.height - lines.count - 2) / 2)
        let right = min(frame.size.width, left + width)
        let style = Style(foreground: Color(95, 175, 255))
        frame.fill(x: left..<right, y: top..<top + lines.count + 2)
        frame.write("┌" + String(repeating: "─", count: width - 2) + "┐", x: left, y: top, style: style)
        frame.write(" \(title) ", x: left + 2, y: top, style: Style(isBold: true))
        for (offset, line) in lines.enumerated() {
            frame.write("│", x: left, y: top + 1 + offset, style: style)
            frame.write(line, x: left + 2, y: top + 1 + offset, end: right - 1)
            frame.write("│", x: right - 1, y: top + 1 + offset, style: style)
        }
        let bottom = "└" + String(repeating: "─", count: width - 2) + "┘"
        frame.write(bottom, x: left, y: top + lines.count + 1, style: style)
    }

    private var title: String {
        switch panel {
        case .help: "Keys"
        case .metrics: "Last request"
        case .trust: "Certificate and pins"
        case .network: "Network"
        }
    }

    private var lines: [String] {
        switch panel {
        case .help: Self.keys.map { $0.padded(to: 14) + $1 }
        case .metrics: metrics
        case .trust: trust
        case .network: network
        }
    }

    private static let keys = [
        ("↑ ↓  k j", "select a post"), ("PgUp PgDn", "move by a page"), ("g G", "first, last post"),
        ("r", "refresh"), ("d", "download the attachment"), ("u", "upload a picture"),
        ("s", "suspend, resume"), ("c", "cancel the transfer"), ("i", "metrics of the last request"),
        ("p", "certificate and pins"), ("n", "the network's path"), ("? q", "help, quit"),
    ]

    private var metrics: [String] {
        guard let facts = state.facts else { return ["No request has been answered yet."] }
        let attempts = facts.attempts == 1 ? "1 attempt" : "\(facts.attempts) attempts"
        let head = ["\(facts.status) \(facts.url)", "\(attempts), cache: \(facts.cache ?? "none")"]
        return head + facts.timings
    }

    private var trust: [String] {
        guard state.refusal.isEmpty else { return state.refusal }
        guard let facts = state.facts else { return ["No request has been answered yet."] }
        guard let encryption = facts.encryption else { return ["The connection is not encrypted."] }
        let verdict =
            facts.isPinned ? "A pin of the policy matches the chain:" : "The chain is trusted; no key is pinned:"
        return [encryption, verdict] + facts.pins
    }

    private var network: [String] {
        let live = state.live
        let status = [live.networkDetail ?? "The status is not known."] + live.networkPath.map { "  " + $0 }
        return status + [
            live.activityCount == 1 ? "1 request is running." : "\(live.activityCount) requests are running.",
            "\(live.pictureCount) pictures in memory, \(Figures.size(Int64(live.pictureBytes)))",
        ]
    }
}
