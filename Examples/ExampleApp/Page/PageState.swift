import FoundationEssentials
import Linnet

/// The contents of the page, in the form for its script.
struct PageState: Encodable {
    struct Item: Encodable {
        /// A number as text, since numbers of a script have 53 bits.
        let id: String
        let name: String
        let text: String
        let age: String?
        let attachment: String?
        /// The path of the picture; nil while there is none.
        let avatar: String?
    }

    /// A request in the waterfall.
    struct Request: Encodable {
        struct Bar: Encodable {
            let part: String
            /// In percent of the axis.
            let start: Double
            let length: Double
            /// A color of CSS.
            let color: String
        }

        let name: String
        let figures: String
        let bars: [Bar]
    }

    let posts: [Item]
    let requests: [Request]
    /// The texts of the page's elements, by their identifiers.
    let texts: [String: String]
    /// The parts of the state that are true.
    let flags: [String]
    /// The completed part of the transfer; nil while its size is unknown.
    let fraction: Double?

    init(_ state: TimelineState, now: Date) {
        posts = state.posts.map { post in
            Item(
                id: String(post.id), name: post.user.username, text: post.text,
                age: post.createdAt.map { Figures.age($0, now: now) },
                attachment: post.attachment.map { "\($0.name), \(Figures.size($0.size))" },
                avatar: state.avatars[post.user].map { _ in "/avatars/\(post.id).png" })
        }
        requests = state.waterfall.rows.map { row in
            let bars = row.bars.map { bar in
                let color = bar.part.color.map { "\($0)" }.joined(separator: ",")
                return Request.Bar(
                    part: bar.part.rawValue, start: bar.start * 100, length: (bar.end - bar.start) * 100,
                    color: "rgb(\(color))")
            }
            return Request(name: row.name, figures: row.figures, bars: bars)
        }
        let panels = TimelinePanel.allCases.map { ($0.rawValue, $0.lines(state).joined(separator: "\n")) }
        let transfer = state.transfer
        var effects: [(String, TimelineEffect)] = [("timeline", .timeline), ("pictures", .pictures)]
        effects += TimelinePanel.allCases.map { ($0.rawValue, $0.effect) }
        if let transfer { effects.append(("transfer", transfer.effect)) }
        texts = [
            "server": state.server, "banner": state.banner ?? "", "message": state.message ?? "",
            "transfer-name": transfer.map { ($0.isUpload ? "upload: " : "download: ") + $0.name } ?? "",
            "transfer-figures": transfer?.figures ?? "", "summary": state.summary,
        ].merging(panels) { $1 }.merging(effects.map { ("code-\($0)", $1.code) }) { $1 }
        flags = [
            ("error", state.isError), ("refreshing", state.isRefreshing), ("indicator", state.isIndicatorVisible),
            ("transfer", transfer?.isActive == true),
        ].filter(\.1).map(\.0)
        fraction = transfer?.progress.fraction
    }

    /// The state as a server-sent event.
    var event: Data {
        get throws { Data("event: state\ndata: ".utf8) + (try JSONEncoder().encode(self)) + Data("\n\n".utf8) }
    }
}
