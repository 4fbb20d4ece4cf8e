import FoundationEssentials
import LinnetMessages
import Testing

func testOrigin(_ text: String) throws -> Origin {
    try RequestTarget(parsing: #require(URL(string: text))).origin
}
