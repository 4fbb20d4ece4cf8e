import Foundation
import LinnetAFNetworking
import LinnetAFNetworkingXML
import Testing

@Suite(.timeLimit(.minutes(5))) struct XMLDocumentResponseSerializerTests {
    private let serializer = AFXMLDocumentResponseSerializer(xmlDocumentOptions: 3)

    private func response(_ type: String, status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com/feed"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: ["Content-Type": type]))
    }

    @Test(arguments: ["application/xml", "text/xml"]) func aBodyOfXMLIsATree(type: String) throws {
        var error: NSError?
        let body = Data("<feed><title>Ada</title></feed>".utf8)
        let object = serializer.responseObject(for: try response(type), data: body, error: &error)
        #expect((object as? XMLTree)?.root["title"]?.text == "Ada")
        #expect(error == nil)
        #expect(serializer.responseObject(for: try response("text/plain"), data: body, error: &error) == nil)
        #expect(error?.code == NSURLErrorCannotDecodeContentData)
    }

    @Test(arguments: ["", "<a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"])
    func aDocumentThatCannotBeReadIsAnError(text: String) throws {
        var error: NSError?
        let object = serializer.responseObject(for: try response("text/xml"), data: Data(text.utf8), error: &error)
        #expect(object == nil)
        #expect(error?.domain == AFURLResponseSerializationErrorDomain)
        #expect(error?.userInfo[NSUnderlyingErrorKey] != nil)
    }

    @Test func aCopyAndAnArchiveHaveTheOptions() throws {
        #expect((serializer.copy() as? AFXMLDocumentResponseSerializer)?.options == 3)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: serializer, requiringSecureCoding: true)
        let type = AFXMLDocumentResponseSerializer.self
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: archive)?.options == 3)
    }
}
