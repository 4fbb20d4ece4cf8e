/// The terminal's own part of the state: the place in the timeline, and the open panel.
struct TimelineView: Sendable {
    var size: TerminalSize
    /// The identifier of the post that commands apply to; nil for the first one.
    var selection: Int?
    var panel: TimelinePanel?

    /// The place of the selected post: the first one if it is no longer there.
    func selected(in posts: [Post]) -> Int { posts.firstIndex { $0.id == selection } ?? 0 }

    /// Moves the selection among the posts, of which a page is on the screen, or opens or closes a panel. Other keys
    /// have no effect.
    mutating func press(_ key: String, posts: [Post], page: Range<Int>) {
        let selected = selected(in: posts)
        switch key {
        case "down", "j": select(selected + 1, of: posts)
        case "up", "k": select(selected - 1, of: posts)
        case "page down", " ": select(page.upperBound, of: posts)
        case "page up", "b": select(page.lowerBound - 1, of: posts)
        case "home", "g": select(0, of: posts)
        case "end", "G": select(posts.count - 1, of: posts)
        case "escape": panel = nil
        default:
            guard let pressed = TimelinePanel.allCases.first(where: { $0.key == key }) else { return }
            panel = panel == pressed ? nil : pressed
        }
    }

    private mutating func select(_ index: Int, of posts: [Post]) {
        selection = posts.isEmpty ? nil : posts[max(0, min(index, posts.count - 1))].id
    }
}
