import ExampleSupport
import FoundationEssentials
import Linnet

/// Draws the state: a pure function from a state, a view and a time to the rows of a screen.
struct TimelineDrawing {
    /// The columns and rows of a user's picture.
    private static let avatarColumns = 6
    private static let avatarRows = 3
    private static let blank = String(repeating: " ", count: avatarColumns)
    /// Characters of the indicator, in their order.
    private static let spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    let state: TimelineState
    let view: TimelineView
    let style: TextStyle
    let now: Date

    private var width: Int { max(20, view.size.width) }
    private var selected: Int { view.selected(in: state.posts) }
    private var symbol: String { Self.spinner[Int(now.timeIntervalSince1970 * 10) % Self.spinner.count] }

    /// The rows, from the top.
    var rows: [String] {
        guard view.size.width >= 20, view.size.height >= 6 else { return ["Too small."] }
        let content = (panel.map(panelRows) ?? (state.posts.isEmpty ? placeholder : timeline)).prefix(room)
        return head + content + Array(repeating: "", count: room - content.count) + foot
    }

    /// The number of rows for the timeline.
    private var room: Int { max(0, view.size.height - head.count - foot.count) }

    // MARK: Head and foot

    private var head: [String] {
        let position = state.posts.isEmpty ? "" : "  \(selected + 1)/\(state.posts.count)"
        let title = " Linnet  \(OneLine.text(state.server))\(position)\(state.isRefreshing ? " \(symbol)" : "")"
        let banner = state.banner.map { style.text(filled(" " + OneLine.text($0)), .reversed, color: TextStyle.error) }
        let pictures = panel == nil && !state.avatars.isEmpty ? code(.pictures) : []
        return [style.text(filled(title), .reversed)] + code(.timeline) + pictures
            + (banner.map { [$0] + code(.network) } ?? [])
    }

    private var foot: [String] {
        let indicator = state.isIndicatorVisible ? symbol : " "
        return messageRows + (state.transfer.map { [transferRow($0)] + code($0.effect) } ?? []) + keyRows
            + [style.text(filled(" \(indicator) " + OneLine.text(state.summary)), .reversed)]
    }

    /// The last message: a complete error if it leaves half of the screen to the timeline.
    private var messageRows: [String] {
        guard let message = state.message else { return [] }
        let limit = max(1, view.size.height / (state.isError ? 2 : 6) - 2)
        var lines = OneLine.text(message).wrapped(to: width - 2)
        if lines.count > limit { lines[limit - 1] = (lines[limit - 1] + " …").truncated(to: width - 2) }
        let color = state.isError ? TextStyle.error : nil
        return lines.prefix(limit).map { " " + style.text($0, state.isError ? .bold : .dim, color: color) }
    }

    /// The keys, if the screen is high enough for them.
    private var keyRows: [String] {
        guard view.size.height >= 12 else { return [] }
        let commands = TimelineCommand.allCases.map { "\($0.key)\u{A0}\($0.rawValue)" }
        let panels = TimelinePanel.allCases.map { "\($0.key)\u{A0}\($0.rawValue)" }
        let keys = (["↑↓\u{A0}select"] + commands + panels + ["?\u{A0}code", "q\u{A0}quit"]).joined(separator: "  ")
        return keys.wrapped(to: width - 2).prefix(3).map { style.text(" " + $0.replacing("\u{A0}", with: " "), .dim) }
    }

    /// The line of code that makes an effect, if it is wanted and the screen is high enough.
    private func code(_ effect: TimelineEffect) -> [String] {
        guard view.showsCode, view.size.height >= 12 else { return [] }
        return effect.code.wrapped(to: width - 2).map { " " + style.text($0, color: TextStyle.accent) }
    }

    /// One row for a transfer: its name, a bar, and its figures.
    private func transferRow(_ transfer: Transfer) -> String {
        let arrow = transfer.isUpload ? "↑" : "↓"
        let name = " \(arrow) \(OneLine.text(transfer.name).truncated(to: max(6, width / 3))) "
        let figures = " " + transfer.figures
        let columns = max(4, width - name.columns - figures.columns - 1)
        let filled = Int(Double(columns) * (transfer.progress.fraction ?? 0))
        return style.text(name, .bold) + style.text(String(repeating: "█", count: filled), color: TextStyle.accent)
            + style.text(String(repeating: "░", count: columns - filled), .dim)
            + figures.truncated(to: width - name.columns - columns)
    }

    private func filled(_ text: String) -> String {
        let text = text.truncated(to: width)
        return text + String(repeating: " ", count: width - text.columns)
    }

    // MARK: Panels

    /// The chosen panel. An empty timeline shows why the server was refused.
    private var panel: TimelinePanel? {
        view.panel ?? (state.posts.isEmpty && state.refusal != nil ? .pins : nil)
    }

    private func panelRows(_ panel: TimelinePanel) -> [String] {
        let lines = panel.lines(state).flatMap { OneLine.text($0).wrapped(to: width - 4) }
        let waterfall = panel == .info ? WaterfallDrawing(state.waterfall, width: width - 4, style: style).rows : []
        return ["", "  " + style.text(panel.title.truncated(to: width - 4), .bold)] + code(panel.effect) + [""]
            + (lines + waterfall).map { "  " + $0 }
    }

    // MARK: Timeline

    private var placeholder: [String] {
        let text = state.isRefreshing ? "Loading the timeline…" : "No posts. Press r to load the timeline."
        return ["", "  " + style.text(text.truncated(to: width - 4), .dim)]
    }

    /// The posts of the page, and a part of the next one if there is room.
    private var timeline: [String] { shownPosts.flatMap(postRows) }

    /// The posts that are at least in part on the screen.
    var shownPosts: ArraySlice<Post> {
        let page = page
        return state.posts[page.lowerBound..<min(page.upperBound + 1, state.posts.count)]
    }

    /// The places of the posts that fit on the screen, beginning so that the selected one is among them.
    var page: Range<Int> {
        let room = room
        var (start, end, used) = (0, 0, 0)
        for index in state.posts.indices {
            let height = max(Self.avatarRows, 1 + text(of: state.posts[index]).count) + 1
            // The last post needs no blank row below it.
            if index > start, used + height - 1 > room {
                if end > selected { break }
                (start, used) = (index, 0)
            }
            (end, used) = (index + 1, used + height)
        }
        return start..<end
    }

    private func text(of post: Post) -> [String] {
        OneLine.text(post.text).wrapped(to: width - Self.avatarColumns - 5)
    }

    /// The rows of a post: its head and its text beside the picture, and a blank one.
    private func postRows(_ post: Post) -> [String] {
        let isSelected = post.id == state.posts[selected].id
        let mark = isSelected ? style.text(style.hasColors ? "▌" : ">", color: TextStyle.accent) : " "
        let (avatar, text) = (avatar(of: post.user), [head(of: post)] + text(of: post))
        return (0..<max(Self.avatarRows, text.count)).map { row in
            mark + " " + (row < avatar.count ? avatar[row] : Self.blank) + "  " + (row < text.count ? text[row] : "")
        } + [""]
    }

    /// The author, the age, and the attachment as far as there is room.
    private func head(of post: Post) -> String {
        let name = OneLine.text(post.user.username).truncated(to: width / 2)
        let age = post.createdAt.map { " · " + Figures.age($0, now: now) } ?? ""
        let file = post.attachment.map { " · \(OneLine.text($0.name)), \(Figures.size($0.size))" } ?? ""
        let room = width - Self.avatarColumns - 5 - name.columns
        return style.text(name, .bold, color: TextStyle.accent) + style.text((age + file).truncated(to: room), .dim)
    }

    /// The picture, or the first letters of the name while there is none and where there are no colours.
    private func avatar(of user: User) -> [String] {
        if style.hasColors, let picture = state.avatars[user] {
            return picture.halfBlocks(columns: Self.avatarColumns, style: style)
        }
        let letters = " " + OneLine.text(user.username).prefix(2).uppercased()
        let row = letters + Self.blank.dropLast(letters.columns)
        return [Self.blank, row, Self.blank].map { style.text($0, .reversed) }
    }
}
