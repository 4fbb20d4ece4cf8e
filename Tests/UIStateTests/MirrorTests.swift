import FoundationEssentials
import HTTPTypes
import LinnetSession
import Testing

@testable import LinnetUIState

/// `dump` shows no secret.
@Suite("Mirrors of states", .timeLimit(.minutes(1)))
struct MirrorTests {
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://ada:s3cret@h/p?token=s3cret&page=2"))
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test func anImageRequestHidesItsCredentials() {
        let text = dumped(
            ImageRequest<Picture>(url, headerFields: [.authorization: "Bearer s3cret", .accept: "image/png"]))
        #expect(!text.contains("s3cret"))
        #expect(text.contains("page=2") && text.contains("image/png"))
    }

    @Test func aPageHidesItsTextAndTheTokenOfItsURL() {
        let content = WebContentState.Content(
            data: Data(repeating: 7, count: 15), mimeType: "text/html", textEncodingName: nil, baseURL: url)
        let text = dumped(content)
        #expect(!text.contains("s3cret") && !text.contains("- 7\n"))
        #expect(text.contains("15 bytes") && text.contains("page=2") && text.contains("text/html"))
    }
}
