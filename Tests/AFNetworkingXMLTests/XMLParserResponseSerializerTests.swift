import CommandSupport
import Foundation
import LinnetAFNetworking
import LinnetAFNetworkingXML
import Testing

@Suite(.timeLimit(.minutes(5))) struct XMLParserResponseSerializerTests {
    private let serializer = AFXMLParserResponseSerializer()
    private let feed = Data("<feed><title>Ada</title></feed>".utf8)

    private func response(_ type: String, status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com/feed"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: ["Content-Type": type]))
    }

    @Test(arguments: ["application/xml", "text/xml", "text/xml; charset=utf-8"])
    func aBodyOfXMLIsAParser(type: String) throws {
        var error: NSError?
        let object = serializer.responseObject(for: try response(type), data: feed, error: &error)
        let parser = try #require(object as? XMLParser)
        #expect(error == nil)
        let log = ParserLog()
        parser.delegate = log
        #expect(parser.parse())
        #expect(log.events == ["begin", "+feed", "+title", "Ada", "-title", "-feed", "end"])
    }

    @Test(arguments: ["application/json", "image/png", ""]) func anotherTypeIsRefused(type: String) throws {
        var error: NSError?
        #expect(serializer.responseObject(for: try response(type), data: feed, error: &error) == nil)
        #expect(error?.domain == AFURLResponseSerializationErrorDomain)
        #expect(error?.code == NSURLErrorCannotDecodeContentData)
    }

    @Test func theBodyOfARefusedStatusIsAParserToo() throws {
        var error: NSError?
        let object = serializer.responseObject(for: try response("text/xml", status: 500), data: feed, error: &error)
        #expect(object is XMLParser)
        #expect(error?.code == NSURLErrorBadServerResponse)
        #expect(serializer.responseObject(for: try response("text/xml"), data: nil, error: nil) == nil)
    }

    @Test func theCharsetIsThatOfTheContentType() throws {
        let type = "text/xml; charset=iso-8859-1"
        let bytes = Data("<a>".utf8) + Data([0xE9]) + Data("</a>".utf8)
        let object = serializer.responseObject(for: try response(type), data: bytes, error: nil)
        let parser = try #require(object as? XMLParser)
        let log = ParserLog()
        parser.delegate = log
        #expect(parser.parse() && log.events.contains("é"))
    }

    @Test func aCopyAndAnArchiveHaveTheSettings() throws {
        serializer.acceptableContentTypes = ["application/rss+xml"]
        let copy = try #require(serializer.copy() as? AFXMLParserResponseSerializer)
        #expect(copy.acceptableContentTypes == ["application/rss+xml"])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: serializer, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: AFXMLParserResponseSerializer.self, from: archive)
        #expect(decoded?.acceptableContentTypes == ["application/rss+xml"])
        #expect(AFXMLParserResponseSerializer().acceptableContentTypes == ["application/xml", "text/xml"])
    }
}
