import ExampleSupport
import FoundationEssentials

/// Draws the state: a pure function from a state to a frame.
struct TimelineRenderer {
    /// Characters of the indicator, in their order.
    private static let spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    let depth: ColorDepth

    func frame(_ state: TimelineState) -> ScreenBuffer {
        var frame = ScreenBuffer(size: state.size)
        guard state.size.width >= 20, state.size.height >= 6 else {
            frame.write("The terminal is too small.", x: 0, y: 0)
            return frame
        }
        drawTitle(state, on: &frame)
        if !state.live.isNetworkReachable { drawBanner(state, on: &frame) }
        drawPosts(state, on: &frame)
        if let transfer = state.live.transfer {
            TransferLine(transfer).draw(y: state.size.height - 2 - state.messageLines.count, on: &frame)
        }
        drawMessage(state, on: &frame)
        drawStatus(state, on: &frame)
        if let panel = state.panel { PanelRenderer(panel: panel, state: state).draw(on: &frame) }
        return frame
    }

    private func drawTitle(_ state: TimelineState, on frame: inout ScreenBuffer) {
        let style = Style(isBold: true, isReversed: true)
        frame.fill(x: 0..<state.size.width, y: 0..<1, style: style)
        frame.write(" Linnet", x: 0, y: 0, style: style)
        let position = state.posts.isEmpty ? "" : "\(state.selected + 1)/\(state.posts.count) "
        let end = state.size.width - DisplayWidth.of(position)
        frame.write(position, x: end, y: 0, style: style)
        let server = TextWrapping.truncated(OneLine.text(state.server), width: end - 9 - 4)
        let x = frame.write(server, x: 9, y: 0, style: style, end: end)
        if state.live.isRefreshing { frame.write(" " + symbol(state), x: x, y: 0, style: style, end: end) }
    }

    private func drawBanner(_ state: TimelineState, on frame: inout ScreenBuffer) {
        let style = Style(foreground: Color(0, 0, 0), background: Color(255, 215, 0), isBold: true)
        frame.fill(x: 0..<state.size.width, y: 1..<2, style: style)
        frame.write(" No network: \(state.live.network ?? "not reachable")", x: 0, y: 1, style: style)
    }

    private func drawPosts(_ state: TimelineState, on frame: inout ScreenBuffer) {
        let layout = state.layout
        if state.posts.isEmpty {
            let text = state.live.isRefreshing ? "Loading the timeline…" : "No posts. Press r to load the timeline."
            frame.write(text, x: 2, y: layout.rows.lowerBound + 1, style: Style(isDim: true))
        }
        for item in layout.visible { draw(state.posts[item.index], item, state, rows: layout.rows, on: &frame) }
    }

    private func draw(
        _ post: Post, _ item: TimelineLayout.Item, _ state: TimelineState, rows: Range<Int>,
        on frame: inout ScreenBuffer
    ) {
        let isSelected = item.index == state.selected
        let height = max(TimelineLayout.avatarRows, 1 + item.lines.count)
        let shown = min(height, rows.upperBound - item.row)
        if isSelected {
            let mark = Style(foreground: Color(95, 175, 255), isBold: true)
            frame.fill(x: 0..<1, y: item.row..<item.row + shown, style: mark, with: depth == .none ? ">" : "▌")
        }
        drawAvatar(of: post.user, state, y: item.row, rows: shown, on: &frame)
        drawHead(of: post, state, y: item.row, isSelected: isSelected, on: &frame)
        for (offset, line) in item.lines.enumerated() where 1 + offset < shown {
            frame.write(line, x: TimelineLayout.textColumn, y: item.row + 1 + offset)
        }
    }

    private func drawHead(
        of post: Post, _ state: TimelineState, y: Int, isSelected: Bool, on frame: inout ScreenBuffer
    ) {
        let name = OneLine.text(post.user.username)
        var x = frame.write(
            TextWrapping.truncated(name, width: state.size.width / 2), x: TimelineLayout.textColumn, y: y,
            style: Style(foreground: Color(95, 175, 255), isBold: true))
        let dim = Style(isDim: true)
        if let time = post.createdAt {
            x = frame.write(" · " + RelativeTime.text(time, now: state.now), x: x, y: y, style: dim)
        }
        if let attachment = post.attachment {
            let room = state.size.width - x - 1
            let long = " · \(OneLine.text(attachment.name)), \(Figures.size(attachment.size))"
            frame.write(DisplayWidth.of(long) <= room ? long : " · file", x: x, y: y, style: dim)
        }
    }

    /// Draws the picture, or the first letters of the name while there is none and where there are no colours.
    private func drawAvatar(
        of user: User, _ state: TimelineState, y: Int, rows: Int, on frame: inout ScreenBuffer
    ) {
        let columns = TimelineLayout.avatarColumns
        guard let avatar = state.avatars[user], depth != .none else {
            let letters = String(OneLine.text(user.username).prefix(2)).uppercased()
            let style = Style(foreground: Color(200, 200, 200), background: Color(70, 70, 70), isBold: true)
            if depth == .none {
                frame.write("[\(letters)]", x: 3, y: y)
            } else {
                frame.fill(x: 2..<2 + columns, y: y..<y + rows, style: style)
                frame.write(letters, x: 4, y: y + min(1, rows - 1), style: style)
            }
            return
        }
        if state.usesKitty && depth == .trueColor {
            KittyGraphics.draw(id: avatar.number, x: 2, y: y, columns: columns, rows: rows, on: &frame)
        } else {
            avatar.blocks.draw(x: 2, y: y, shownRows: rows, on: &frame)
        }
    }

    private func drawMessage(_ state: TimelineState, on frame: inout ScreenBuffer) {
        let lines = state.messageLines
        let style = state.isError ? Style(foreground: Color(255, 95, 95), isBold: true) : Style(isDim: true)
        for (offset, line) in lines.enumerated() {
            frame.write(line, x: 1, y: state.size.height - 1 - lines.count + offset, style: style)
        }
    }

    private func drawStatus(_ state: TimelineState, on frame: inout ScreenBuffer) {
        let y = state.size.height - 1
        let style = Style(isReversed: true)
        frame.fill(x: 0..<state.size.width, y: y..<y + 1, style: style)
        let parts = [
            state.facts?.httpVersion,
            state.facts.map { $0.encryption.map { String($0.prefix { $0 != " " }) } ?? "no TLS" },
            state.facts.map { $0.isPinned ? "pinned" : "not pinned" }, state.facts?.cache.map { "cache \($0)" },
            state.live.network,
        ]
        let text = parts.compactMap { $0 }.joined(separator: " · ")
        let indicator = state.live.isIndicatorVisible ? symbol(state) : " "
        frame.write(
            " \(indicator) " + TextWrapping.truncated(OneLine.text(text), width: state.size.width - 4), x: 0, y: y,
            style: style)
    }

    private func symbol(_ state: TimelineState) -> String { Self.spinner[state.step % Self.spinner.count] }
}
