import ExampleSupport

/// The places of the posts on the screen.
struct TimelineLayout: Sendable {
    /// The columns and rows of a user's picture.
    static let avatarColumns = 6
    static let avatarRows = 3
    /// The column in which text begins: after the mark of the selection, the picture, and spaces.
    static let textColumn = 2 + avatarColumns + 2

    /// A post and its place.
    struct Item {
        let index: Int
        let row: Int
        let lines: [String]
    }

    /// The rows between the title and the lines at the bottom.
    let rows: Range<Int>
    private let posts: [Post]
    private let first: Int
    private let textWidth: Int

    init(_ state: TimelineState) {
        posts = state.posts
        first = state.top
        textWidth = state.size.width - Self.textColumn - 1
        let start = 1 + (state.live.isNetworkReachable ? 0 : 1)
        let end = state.size.height - 1 - state.messageLines.count - (state.live.transfer == nil ? 0 : 1)
        rows = start..<max(start, end)
    }

    /// The posts on the screen, from the first one; the last one can be cut.
    var visible: [Item] {
        var (items, row, index) = ([Item](), rows.lowerBound, first)
        while row < rows.upperBound, index < posts.count {
            let lines = lines(of: posts[index])
            items.append(Item(index: index, row: row, lines: lines))
            row += Self.height(lines)
            index += 1
        }
        return items
    }

    /// The first post on the screen that makes a post completely visible, with as little movement as possible.
    func top(showing index: Int) -> Int {
        guard posts.indices.contains(index) else { return 0 }
        if index <= first { return index }
        var (height, top) = (0, index + 1)
        while top > 0 {
            // The last post needs no blank row below it.
            let next = height + Self.height(lines(of: posts[top - 1])) - (top == index + 1 ? 1 : 0)
            guard next <= rows.count || top == index + 1 else { break }
            (height, top) = (next, top - 1)
        }
        return max(first, top)
    }

    private func lines(of post: Post) -> [String] {
        TextWrapping.lines(OneLine.text(post.text), width: textWidth)
    }

    /// The rows of a post: its head and its text beside the picture, and a blank one.
    private static func height(_ lines: [String]) -> Int { max(avatarRows, 1 + lines.count) + 1 }
}
