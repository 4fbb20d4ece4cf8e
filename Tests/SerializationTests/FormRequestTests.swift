import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct FormRequestTests {
    private let serializer = FormRequestSerializer()

    @Test(arguments: [
        ("https://h/p", "https://h/p?a=1"), ("https://h", "https://h?a=1"), ("https://h/p?", "https://h/p?a=1"),
        ("https://h/p?x=y", "https://h/p?x=y&a=1"), ("https://h/p?x=y&", "https://h/p?x=y&a=1"),
        ("https://h/p#f", "https://h/p?a=1#f"), ("https://h/p?x#f?g", "https://h/p?x&a=1#f?g"),
        ("https://h/p#f?g", "https://h/p?a=1#f?g"), ("https://h/p?x=%2F%20", "https://h/p?x=%2F%20&a=1"),
    ])
    func queryIsAppendedBeforeTheFragment(url: String, expected: String) throws {
        let request = try serializer.serialize(try makeRequest(url), parameters: ["a": 1])
        #expect(request.url.absoluteString == expected)
        #expect(request.body == nil)
    }

    @Test(arguments: [nil, [:], ["a": [] as ParameterValue]] as [RequestParameters?]) func emptyParametersAddNoQuery(
        parameters: RequestParameters?
    ) throws {
        let request = try serializer.serialize(try makeRequest("https://h/p"), parameters: parameters)
        #expect(request.url.absoluteString == "https://h/p")
        #expect(request.body == nil)
        #expect(request.headerFields[.contentType] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete]) func methodsThatTakeAQuery(method: HTTPRequest.Method)
        throws
    {
        let request = try serializer.serialize(try makeRequest(method: method), parameters: ["key": "value"])
        #expect(request.url.query() == "key=value")
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .options])
    func methodsThatTakeABody(method: HTTPRequest.Method) throws {
        let request = try serializer.serialize(try makeRequest(method: method), parameters: ["key": "v v", "a": [1]])
        #expect(request.url.query() == nil)
        #expect(bodyText(request) == "a%5B%5D=1&key=v%20v")
        #expect(request.body?.length == 19)
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func missingParametersMakeAnEmptyForm() throws {
        let request = try serializer.serialize(try makeRequest(method: .post), parameters: nil)
        #expect(bodyText(request) == "")
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func bodyOfTheRequestIsNeverReplaced() throws {
        let own = try makeRequest(method: .post, body: .data(Data("own".utf8)))
        let request = try serializer.serialize(own, parameters: nil)
        #expect(bodyText(request) == "own")
        #expect(request.headerFields[.contentType] == nil)
        let error = #expect(throws: SerializationError.self) { try serializer.serialize(own, parameters: ["a": 1]) }
        #expect(error?.code == .invalidParameters)
    }

    @Test func fieldsOfTheRequestWin() throws {
        let fields: HTTPFields = [.contentType: "text/own", .userAgent: "own"]
        let request = try serializer.serialize(
            try makeRequest(method: .post, headerFields: fields), parameters: ["a": 1])
        #expect(request.headerFields[.contentType] == "text/own")
        #expect(request.headerFields[values: .userAgent] == ["own"])
        #expect(request.headerFields[.acceptLanguage] != nil)
    }

    @Test func otherMethodsCanBeMadeToUseTheQuery() throws {
        var serializer = FormRequestSerializer()
        serializer.methodsEncodingParametersInURL = [.post]
        let post = try serializer.serialize(try makeRequest(method: .post), parameters: ["a": 1])
        #expect(post.url.query() == "a=1")
        let get = try serializer.serialize(try makeRequest(), parameters: ["a": 1])
        #expect(bodyText(get) == "a=1")
    }

    @Test func reservedCharactersAndEscapesAreEscaped() throws {
        let parameters: RequestParameters = ["key": "!@#$%^&*()", "pre": "%20"]
        let request = try serializer.serialize(try makeRequest(), parameters: parameters)
        #expect(request.url.query(percentEncoded: true) == "key=%21%40%23%24%25%5E%26%2A%28%29&pre=%2520")
    }

    @Test func methodOptionsAndURLAreKept() throws {
        var options = RequestOptions()
        options.timeout = .seconds(3)
        options.tag = "t"
        let url = try #require(URL(string: "https://h/"))
        let request = SessionRequest(url: url, method: .put, options: options)
        let serialized = try serializer.serialize(request, parameters: nil)
        #expect(serialized.options == options)
        #expect(serialized.method == .put)
    }
}
