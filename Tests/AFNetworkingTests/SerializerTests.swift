import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RequestSerializerTests {
    private let url = "http://example.com/x"

    private func body(_ request: URLRequest?) -> String? {
        request?.httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func theQueryIsAFNetworkings() {
        let parameters: [String: Any] = [
            "b": ["y": 1, "x": "é"], "a": [1, 2], "set": Set([3]), "null": NSNull(), "flag": true,
            "n": NSNumber(value: 1.5),
        ]
        let text = "a%5B%5D=1&a%5B%5D=2&b%5Bx%5D=%C3%A9&b%5By%5D=1&flag=1&n=1.5&null&set=3"
        #expect(AFQueryStringFromParameters(parameters) == text)
        #expect(AFPercentEscapedStringFromString("a b:/?&=%20") == "a%20b%3A/?%26%3D%2520")
    }

    @Test func aFormIsWrittenIntoTheBodyAndAQueryIntoTheURL() {
        let serializer = AFHTTPRequestSerializer()
        let form = serializer.request(withMethod: "POST", urlString: url, parameters: ["a": 1], error: nil)
        #expect(body(form) == "a=1")
        #expect(form?.value(forHTTPHeaderField: "content-type") == "application/x-www-form-urlencoded")
        let query = serializer.request(withMethod: "GET", urlString: url + "?z=2", parameters: ["a": 1], error: nil)
        #expect(query?.url?.absoluteString == url + "?z=2&a=1" && query?.httpBody == nil)
        serializer.httpMethodsEncodingParametersInURI = ["POST"]
        let other = serializer.request(withMethod: "POST", urlString: url, parameters: ["a": 1], error: nil)
        #expect(other?.url?.absoluteString == url + "?a=1")
    }

    @Test func headerFieldsAreAddedWhereTheRequestHasNone() throws {
        let serializer = AFHTTPRequestSerializer()
        serializer.setValue("own", forHTTPHeaderField: "X-A")
        serializer.setValue("line\r\nX-B: 1", forHTTPHeaderField: "X-C")
        serializer.setAuthorizationHeaderFieldWithUsername("ada", password: "linnet")
        #expect(serializer.value(forHTTPHeaderField: "x-a") == "own")
        #expect(serializer.httpRequestHeaders["X-C"] == nil)
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("the request's", forHTTPHeaderField: "x-a")
        let made = serializer.request(bySerializing: request, withParameters: nil, error: nil)
        #expect(made?.value(forHTTPHeaderField: "X-A") == "the request's")
        #expect(made?.value(forHTTPHeaderField: "Authorization")?.hasPrefix("Basic ") == true)
        serializer.clearAuthorizationHeader()
        serializer.setValue(nil, forHTTPHeaderField: "X-A")
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(serializer.value(forHTTPHeaderField: "X-A") == nil)
    }

    @Test func jsonHasItsOptionsAndRefusesWhatItCannotHave() {
        let serializer = AFJSONRequestSerializer(writingOptions: .prettyPrinted)
        let made = serializer.request(withMethod: "PUT", urlString: url, parameters: ["a": [1, "b"]], error: nil)
        #expect(body(made)?.contains("\n") == true)
        #expect(made?.value(forHTTPHeaderField: "Content-Type") == "application/json")
        var error: NSError?
        let refused = serializer.request(withMethod: "PUT", urlString: url, parameters: ["a": Set([1])], error: &error)
        #expect(refused == nil)
        #expect(
            error?.domain == AFURLRequestSerializationErrorDomain && error?.code == NSURLErrorCannotDecodeContentData)
        let none = serializer.request(withMethod: "PUT", urlString: url, parameters: nil, error: nil)
        #expect(none?.httpBody == nil && none?.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test func aPropertyListIsWritten() throws {
        let serializer = AFPropertyListRequestSerializer(format: .xml, writeOptions: 0)
        let made = serializer.request(withMethod: "POST", urlString: url, parameters: ["a": 1], error: nil)
        #expect(body(made)?.contains("<integer>1</integer>") == true)
        #expect(made?.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
    }

    @Test func aBlockWritesQueriesAndCanFail() {
        let serializer = AFHTTPRequestSerializer()
        serializer.setQueryStringSerializationWith { _, parameters, _ in "own=\((parameters as? [Int])?.count ?? 0)" }
        let made = serializer.request(withMethod: "GET", urlString: url, parameters: [1, 2], error: nil)
        #expect(made?.url?.query() == "own=2")
        serializer.setQueryStringSerializationWith(.defaultStyle)
        let usual = serializer.request(withMethod: "GET", urlString: url, parameters: ["a": 1], error: nil)
        #expect(usual?.url?.query() == "a=1")
    }

    @Test func aCopyHasAllSettings() throws {
        let serializer = AFJSONRequestSerializer(writingOptions: .sortedKeys)
        serializer.setValue("1", forHTTPHeaderField: "X-A")
        serializer.timeoutInterval = 7
        serializer.cachePolicy = .reloadIgnoringLocalCacheData
        serializer.httpShouldHandleCookies = false
        serializer.httpMethodsEncodingParametersInURI = ["GET"]
        let copy = try #require(serializer.copy() as? AFJSONRequestSerializer)
        serializer.setValue("2", forHTTPHeaderField: "X-A")
        #expect(copy.value(forHTTPHeaderField: "X-A") == "1" && copy.timeoutInterval == 7)
        #expect(copy.cachePolicy == .reloadIgnoringLocalCacheData && !copy.httpShouldHandleCookies)
        #expect(copy.httpMethodsEncodingParametersInURI == ["GET"] && copy.writingOptions == .sortedKeys)
    }

    @Test func aFormIsWrittenToAFileWithItsStream() async throws {
        try await withScratchFolder { folder in
            let serializer = AFHTTPRequestSerializer()
            let form = serializer.multipartFormRequest(
                withMethod: "POST", urlString: url, parameters: ["author": "Ada"],
                constructingBodyWith: { data in
                    let stream = InputStream(data: Data("streamed".utf8))
                    data.appendPart(with: stream, name: "s", fileName: "s.txt", length: 8, mimeType: "text/plain")
                    data.appendPart(withHeaders: ["X-Part": "1"], body: Data("raw".utf8))
                    data.throttleBandwidth(withPacketSize: kAFUploadStream3GSuggestedPacketSize, delay: 0)
                }, error: nil)
            let request = try #require(form)
            let ends = EventRecorder<Bool>()
            let bare = serializer.request(
                withMultipartFormRequest: request, writingStreamContentsToFile: folder["form"],
                completionHandler: { ends.record($0 == nil) })
            #expect(bare.body == nil && bare.value(forHTTPHeaderField: "Content-Type")?.contains("boundary") == true)
            #expect(try await ends.wait(count: 1) == [true])
            let text = try folder.text(of: "form")
            for part in ["Ada", "streamed", "filename=\"s.txt\"", "X-Part: 1", "raw"] { #expect(text.contains(part)) }
        }
    }

    @Test func aPartThatCannotBeSentFailsTheForm() {
        let serializer = AFHTTPRequestSerializer()
        var error: NSError?
        let request = serializer.multipartFormRequest(
            withMethod: "POST", urlString: url, parameters: nil,
            constructingBodyWith: { $0.appendPart(withHeaders: ["X": "a\r\nb"], body: Data("x".utf8)) }, error: &error)
        #expect(request == nil && error?.domain == AFURLRequestSerializationErrorDomain)
        let empty = serializer.multipartFormRequest(
            withMethod: "POST", urlString: url, parameters: nil, constructingBodyWith: nil, error: nil)
        #expect(empty?.body == nil && empty != nil)
    }

    @Test func aRequestHasFoundationsMembers() throws {
        var request = URLRequest(
            url: try #require(URL(string: url)), cachePolicy: .returnCacheDataDontLoad, timeoutInterval: 5)
        request.httpMethod = "PATCH"
        request.httpBody = Data("x".utf8)
        request.addValue("1", forHTTPHeaderField: "X-A")
        request.addValue("2", forHTTPHeaderField: "x-a")
        #expect(request.value(forHTTPHeaderField: "X-a") == "1,2")
        #expect(request.timeoutInterval == 5 && request.cachePolicy == .returnCacheDataDontLoad)
        #expect(request.httpShouldHandleCookies && request.allowsCellularAccess && request.mainDocumentURL == nil)
        request.allHTTPHeaderFields = ["B": "1"]
        #expect(request.allHTTPHeaderFields == ["B": "1"] && request.httpMethod == "PATCH")
    }
}

@Suite(.timeLimit(.minutes(5)))
struct ResponseSerializerTests {
    private func response(_ status: Int = 200, _ type: String? = "application/json") throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com/x"))
        let fields = type.map { ["Content-Type": $0] }
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private func read(
        _ serializer: AFHTTPResponseSerializer, _ text: String, _ status: Int = 200,
        _ type: String? = "application/json"
    ) throws -> (object: Any?, error: NSError?) {
        var error: NSError?
        let object = serializer.responseObject(for: try response(status, type), data: Data(text.utf8), error: &error)
        return (object, error)
    }

    @Test(arguments: Array(200..<300))
    func eachSuccessIsAccepted(status: Int) throws {
        #expect(throws: Never.self) { try AFHTTPResponseSerializer().validate(response(status), data: Data("x".utf8)) }
    }

    @Test(arguments: Array(400..<600))
    func eachErrorOfHTTPIsRefused(status: Int) throws {
        let error = #expect(throws: NSError.self) {
            try AFHTTPResponseSerializer().validate(response(status), data: Data("x".utf8))
        }
        #expect(error?.domain == AFURLResponseSerializationErrorDomain && error?.code == NSURLErrorBadServerResponse)
    }

    @Test func bothFaultsAreInOneError() throws {
        let (object, error) = try read(AFJSONResponseSerializer(), "<html>", 500, "text/html")
        #expect(object == nil && error?.code == NSURLErrorBadServerResponse)
        let below = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(below?.code == NSURLErrorCannotDecodeContentData)
    }

    @Test func anEmptyBodyMayHaveAnyType() throws {
        let (object, error) = try read(AFJSONResponseSerializer(), "", 205, nil)
        #expect(object == nil && error == nil)
        let refused = try read(AFJSONResponseSerializer(), "x", 200, nil)
        #expect(refused.object == nil && refused.error?.code == NSURLErrorCannotDecodeContentData)
    }

    @Test(arguments: ["application/json", "text/json", "text/javascript", "Application/JSON; charset=utf-8"])
    func jsonIsReadAsFoundationsValues(type: String) throws {
        let text = #"{"i": 7, "d": 1.5, "s": "é", "b": true, "n": null, "a": [1, {"x": null}]}"#
        let object = try #require(try read(AFJSONResponseSerializer(), text, 200, type).object as? [String: Any])
        #expect(object["i"] as? Int == 7 && object["d"] as? Double == 1.5 && object["s"] as? String == "é")
        #expect(object["b"] as? Bool == true && object["n"] is NSNull)
        #expect((object["a"] as? [Any])?.count == 2 && (object["i"] as? NSNumber)?.doubleValue == 7)
    }

    @Test func nullsAreRemovedOnRequest() throws {
        let serializer = AFJSONResponseSerializer()
        serializer.removesKeysWithNullValues = true
        let text = #"{"n": null, "a": [null, {"x": null, "y": 1}]}"#
        let object = try #require(try read(serializer, text).object as? [String: Any])
        #expect(object["n"] == nil && ((object["a"] as? [Any])?.first as? [String: Any])?.count == 1)
        let own = AFJSONObjectByRemovingKeysWithNullValues(
            ["n": NSNull(), "a": [NSNull(), 1] as [Any]] as [String: Any], [])
        #expect((own as? [String: Any])?.count == 1 && ((own as? [String: Any])?["a"] as? [Any])?.count == 1)
    }

    @Test func oneSpaceIsNothingAndFragmentsNeedTheirOption() throws {
        let space = try read(AFJSONResponseSerializer(), " ")
        #expect(space.object == nil && space.error == nil)
        let fragment = try read(AFJSONResponseSerializer(), "7")
        #expect(fragment.object == nil && fragment.error?.code == NSURLErrorCannotDecodeContentData)
        let allowed = try read(AFJSONResponseSerializer(readingOptions: .fragmentsAllowed), "7")
        #expect(allowed.object as? Int == 7 && allowed.error == nil)
    }

    @Test func anUnreadableBodyDoesNotHideTheStatus() throws {
        let (object, error) = try read(AFJSONResponseSerializer(), "{", 500)
        #expect(object == nil && error?.code == NSURLErrorBadServerResponse)
        let readable = try read(AFJSONResponseSerializer(), #"{"why": 1}"#, 500)
        #expect((readable.object as? [String: Any])?["why"] as? Int == 1 && readable.error != nil)
    }

    @Test func propertyListsAreRead() throws {
        let text = #"<?xml version="1.0"?><plist version="1.0"><dict><key>a</key><integer>1</integer></dict></plist>"#
        let serializer = AFPropertyListResponseSerializer()
        let object = try read(serializer, text, 200, "application/x-plist").object as? [String: Any]
        #expect(object?["a"] as? Int == 1)
        #expect(try read(serializer, "{}", 200, "application/x-plist").error != nil)
        let empty = try read(serializer, "", 204, nil)
        #expect(empty.object == nil && empty.error == nil)
    }

    @Test func theFirstOfACompoundThatReadsTheBodyCounts() throws {
        let compound = AFCompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [AFPropertyListResponseSerializer(), AFJSONResponseSerializer()])
        let (object, error) = try read(compound, #"{"a": 1}"#)
        #expect((object as? [String: Any])?["a"] as? Int == 1 && error == nil)
        let raw = try read(compound, "text", 200, "text/plain")
        #expect(raw.object as? Data == Data("text".utf8) && raw.error == nil)
        let copy = try #require(compound.copy() as? AFCompoundResponseSerializer)
        #expect(copy.responseSerializers.count == 2)
    }

    @Test func aCopyHasAllSettings() throws {
        let serializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
        serializer.acceptableStatusCodes = IndexSet(integer: 418)
        serializer.acceptableContentTypes = nil
        serializer.removesKeysWithNullValues = true
        let copy = try #require(serializer.copy() as? AFJSONResponseSerializer)
        #expect(copy.acceptableStatusCodes == IndexSet(integer: 418) && copy.acceptableContentTypes == nil)
        #expect(copy.removesKeysWithNullValues && copy.readingOptions == .fragmentsAllowed)
    }

    @Test func aResponseHasFoundationsMembers() throws {
        let url = try #require(URL(string: "http://example.com/a/b.json"))
        let fields = ["Content-Type": "Text/JSON; charset=latin1", "Content-Length": "3"]
        let made = HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: fields)
        let response = try #require(made)
        #expect(response.mimeType == "text/json" && response.textEncodingName == "latin1")
        #expect(response.expectedContentLength == 3 && response.suggestedFilename == "b.json")
        #expect(response.allHeaderFields["Content-Length"] as? String == "3")
        #expect(response.value(forHTTPHeaderField: "content-length") == "3")
        #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
        #expect(HTTPURLResponse(url: url, statusCode: 1, httpVersion: nil, headerFields: nil) == nil)
    }
}
