import FoundationEssentials
import Linnet
import Testing

@testable import ExampleApp

/// Timelines of a server with texts of any length.
@Suite(.timeLimit(.minutes(1)))
struct HostileTimelineTests {
    /// One character with a million combining marks.
    private static let mark = "a" + String(repeating: "\u{301}", count: 1_000_000)

    private static func timeline(
        text: String = "t", name: String = "u", picture: String = "https://localhost/u.png", file: String = "f",
        url: String = "https://localhost/f"
    ) -> Data {
        let user = #"{"username":"\#(name)","avatar_image":{"url":"\#(picture)"}}"#
        let attachment = #"{"name":"\#(file)","url":"\#(url)","size":9223372036854775807}"#
        return Data(#"{"data":[{"id":1,"text":"\#(text)","user":\#(user),"attachment":\#(attachment)}]}"#.utf8)
    }

    private static func post(_ json: Data) throws -> Post {
        var decoder = JSONBodyDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try #require(try decoder.decode(Timeline.self, from: json).data.first)
    }

    private static func isCut(_ text: String?, to limit: Int) -> Bool {
        text?.unicodeScalars.count == limit && text?.count == 1
    }

    @Test func textsAndNamesAreTruncated() throws {
        let post = try Self.post(Self.timeline(text: Self.mark, name: Self.mark, file: Self.mark))
        #expect(Self.isCut(post.text, to: 2_000))
        #expect(Self.isCut(post.user.username, to: 100))
        #expect(Self.isCut(post.attachment?.name, to: 200))
    }

    @Test func textsAndNamesUpToTheLimitsAreKept() throws {
        let texts = [2_000, 100, 200].map { String(repeating: "é", count: $0) }
        let post = try Self.post(Self.timeline(text: texts[0], name: texts[1], file: texts[2]))
        #expect(post.text == texts[0])
        #expect(post.user.username == texts[1])
        #expect(post.attachment?.name == texts[2])
        var encoder = JSONBodyEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try Self.post(encoder.encode(Timeline(data: [post]))) == post)
    }

    @Test func theScreenAndThePageAreBounded() throws {
        let post = try Self.post(Self.timeline(text: Self.mark, name: Self.mark, file: Self.mark))
        var state = TimelineState(server: "localhost")
        state.posts = [post]
        let drawing = TimelineDrawing.sample(state)
        // The name is shown twice, the second time in place of the picture.
        #expect((2_400...2_400 + 81 * 24).contains(drawing.text.unicodeScalars.count))
        #expect(try PageState(state, now: SampleState.now).event.count < 20_000)
        #expect(TimelinePrinter.line(post).unicodeScalars.count == 2_103)
    }

    @Test(arguments: ["avatarImage", "attachment"])
    func anEmptyURLIsAnError(field: String) throws {
        let json = field == "attachment" ? Self.timeline(url: "") : Self.timeline(picture: "")
        let error = #expect(throws: DecodingError.self) { try Self.post(json) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue).contains(field))
    }
}
