import ExampleSupport
import FoundationEssentials
import LinnetImageSerialization

/// All that the app shows. Events change it, and nothing else does.
struct TimelineState: Sendable {
    /// The panel over the timeline.
    enum Panel: Sendable {
        case help, metrics, trust, network
    }

    /// The host and port of the server.
    let server: String
    var size: TerminalSize
    var now: Date
    var posts: [Post] = []
    /// The pictures of the posts' users, and their numbers in the order of their arrival.
    var avatars: [User: Avatar] = [:]
    /// The number of the picture that arrived last.
    var lastAvatar = 0
    /// The post that keys apply to.
    var selected = 0
    /// The first post on the screen.
    var top = 0
    var panel: Panel?
    var live = LiveState()
    /// About the last response.
    var facts: ResponseFacts?
    /// Why the certificate of the last connection was refused, in lines; empty if it was not.
    var refusal: [String] = []
    /// The last message.
    var message: String?
    var isError = false
    /// The step of animations.
    var step = 0
    var usesKitty = false
    /// The exit code, once the app is to end.
    var exitCode: Int32?

    struct Avatar: Sendable {
        let number: Int
        let picture: Bitmap
        /// The picture for terminals without graphics.
        let blocks: HalfBlocks

        init(number: Int, picture: Bitmap) {
            (self.number, self.picture) = (number, picture)
            blocks = HalfBlocks(
                picture, columns: TimelineLayout.avatarColumns, rows: TimelineLayout.avatarRows)
        }
    }

    init(server: String, size: TerminalSize, now: Date) {
        self.server = server
        self.size = size
        self.now = now
    }

    /// Whether something moves on the screen.
    var isAnimated: Bool { live.isIndicatorVisible || live.isRefreshing || live.transfer?.phase == .running }

    var selectedPost: Post? { posts.indices.contains(selected) ? posts[selected] : nil }

    var layout: TimelineLayout { TimelineLayout(self) }

    /// The displayed part of the last message: a complete error if it leaves half of the screen to the timeline.
    var messageLines: [String] {
        let text = OneLine.text(message ?? "? help   q quit")
        let width = size.width - 2
        let room = isError ? max(1, size.height / 2 - 2) : 1
        let lines = room > 1 ? TextWrapping.lines(text, width: width) : [text]
        let rest = lines.dropFirst(room - 1).joined(separator: " ")
        return lines.prefix(room - 1) + (rest.isEmpty ? [] : [TextWrapping.truncated(rest, width: width)])
    }
}
