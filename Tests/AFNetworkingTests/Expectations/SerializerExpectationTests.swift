import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// The expectations of AFNetworking's own tests of serializers, where no other test of the module has them.
@Suite(.timeLimit(.minutes(5)))
struct SerializerExpectationTests {
    private let serializer = AFHTTPRequestSerializer()

    private func made(_ method: String, _ parameters: Any?) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://example.com")))
        request.httpMethod = method
        return try #require(serializer.request(bySerializing: request, withParameters: parameters, error: nil))
    }

    @Test func aPOSTWithoutParametersHasAnEmptyForm() throws {
        let request = try made("POST", nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(request.httpBody == Data())
    }

    @Test func anEmptyDictionaryAddsNoQuestionMark() throws {
        #expect(try made("GET", [String: Any]()).url?.absoluteString.hasSuffix("?") == false)
    }

    @Test func reservedCharactersAreEscapedOnceMore() throws {
        #expect(
            try made("GET", ["key": " :#[]@!$&'()*+,;=/?"]).url?.query(percentEncoded: true)
                == "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?")
        #expect(try made("GET", ["key": "%20%21"]).url?.query(percentEncoded: true) == "key=%2520%2521")
        #expect(
            AFPercentEscapedStringFromString(":#[]@!$&'()*+,;=?/")
                == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/")
        #expect(AFQueryStringFromParameters(["key": "value", "key1": "value&"]) == "key=value&key1=value%26")
    }

    @Test func emojiAreWholeAcrossAnyBoundary() throws {
        let text = "!" + String(repeating: "👴🏿👷🏻👮🏽", count: 6)
        let query = try #require(try made("GET", ["test": text]).url?.query(percentEncoded: true))
        #expect(query.hasPrefix("test=%21%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"))
        #expect(query.removingPercentEncoding == "test=" + text)
    }

    @Test func aPartHasTheTypeOfItsExtension() async throws {
        try await withScratchFolder { folder in
            try Data("certificate".utf8).write(to: folder["ADN.cer"])
            let request = serializer.multipartFormRequest(
                withMethod: "POST", urlString: "http://example.com", parameters: nil,
                constructingBodyWith: { try? $0.appendPart(withFileURL: folder["ADN.cer"], name: "test") }, error: nil)
            var reader = try #require(try request?.body?.makeReader())
            var text = ""
            while let piece = try await reader.next() { text += String(decoding: piece, as: UTF8.self) }
            #expect(text.contains("application/x-x509-ca-cert"))
        }
    }

    @Test func headerFieldsAreSetFromManyThreads() async {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                group.addTask { serializer.setValue("\(index)", forHTTPHeaderField: "X-Count") }
            }
        }
        #expect(serializer.value(forHTTPHeaderField: "X-Count") != nil)
        #expect(serializer.value(forHTTPHeaderField: "X-None") == nil)
    }

    @Test func anArrayIsJSONAtTheTop() throws {
        let json = AFJSONRequestSerializer()
        var request = URLRequest(url: try #require(URL(string: "http://example.com")))
        request.httpMethod = "POST"
        let made = json.request(bySerializing: request, withParameters: ["one", "two"], error: nil)
        #expect(made?.httpBody == Data(#"["one","two"]"#.utf8))
    }

    @Test func aNumberIsNoKeyOfAPropertyList() throws {
        let list = AFPropertyListRequestSerializer()
        var error: NSError?
        let made = list.request(
            withMethod: "POST", urlString: "http://example.com", parameters: [42: "value"], error: &error)
        #expect(made == nil && error != nil)
    }

    // MARK: Responses

    private func response(_ status: Int = 200, _ type: String? = nil) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com"))
        return try #require(
            HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "1.1",
                headerFields: type.map { ["Content-Type": $0] }))
    }

    @Test func a205WithoutATypeIsAcceptedWhenItIsEmpty() throws {
        let serializer = AFHTTPResponseSerializer()
        serializer.acceptableContentTypes = ["text/html"]
        try serializer.validate(response(205), data: nil)
        #expect(throws: NSError.self) { try serializer.validate(response(205), data: Data("test".utf8)) }
    }

    @Test func aCompoundReadsJSONAfterAnImageThatItIsNot() throws {
        let compound = AFCompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [AFImageResponseSerializer(), AFJSONResponseSerializer()])
        var error: NSError?
        let object = compound.responseObject(
            for: try response(200, "application/json"), data: Data(#"{"foo": "bar"}"#.utf8), error: &error)
        #expect(object as? [String: String] == ["foo": "bar"] && error == nil)
        let copy = try #require(compound.copy() as? AFCompoundResponseSerializer)
        #expect(copy !== compound && copy.responseSerializers.count == 2)
    }

    @Test(arguments: [("{\"a\": ", true), ("", false), (" ", false)])
    func whatIsNoJSONIsAnErrorUnlessThereIsNothing(_ row: (text: String, isError: Bool)) throws {
        var error: NSError?
        let object = AFJSONResponseSerializer().responseObject(
            for: try response(200, "application/json"), data: Data(row.text.utf8), error: &error)
        #expect(object == nil && (error != nil) == row.isError)
    }

    @Test func aPropertyListOfA204IsNothing() throws {
        var error: NSError?
        let lists = AFPropertyListResponseSerializer()
        #expect(lists.responseObject(for: try response(204), data: nil, error: &error) == nil && error == nil)
        let invalid = lists.responseObject(
            for: try response(200, "application/x-plist"), data: Data(#"{"a": 1}"#.utf8), error: &error)
        #expect(invalid == nil && error != nil)
    }
}
