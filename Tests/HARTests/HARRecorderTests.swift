import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetHAR
import LinnetJSON
import LinnetMessages
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// What a recorder makes of the sends of a session.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct HARRecorderTests {
    @Test(arguments: Version.allCases)
    func aRequestIsAnEntry(version: Version) async throws {
        let har = try await recorded(version) { _ in
            .json(#"{"a":1}"#)
        } perform: { session in
            _ = try await session.post("posts", json: ["title": "Möwe"]).data()
            _ = try await session.get("posts", ["page": 2, "q": "ä b"]).data()
        }
        try #require(har.entries.count == 2)
        let (post, get) = (har.entries[0], har.entries[1])
        #expect(post.request.method == "POST" && post.request.httpVersion == version.name)
        #expect(post.request.postData?.text == #"{"title":"Möwe"}"#)
        #expect(post.request.bodySize == 17 && post.request.postData?.mimeType == "application/json")
        #expect(post.response.status == 200 && post.response.content.text == #"{"a":1}"#)
        #expect(post.response.content.size == 7 && post.response.bodySize == 7)
        #expect(post.serverIPAddress == "127.0.0.1" && post.connection == get.connection)
        #expect(post.timings.connect != nil && get.timings.connect == nil)
        #expect(get.request.queryString == [HAR.Pair("page", "2"), HAR.Pair("q", "ä b")])
        #expect(get.request.postData == nil && get.request.bodySize == 0)
        for entry in har.entries {
            #expect(entry.time == entry.timings.total && entry.comment == nil)
            #expect(entry.request.url.hasPrefix("http://127.0.0.1:"))
        }
        #expect(try HAR(parsing: har.data()) == har)
    }

    @Test func redirectsAndRetriesAreEntriesOfTheirOwn() async throws {
        let count = Mutex(0)
        let har = try await recorded(session: {
            $0.retryPolicy = .limited(to: 2)
            $0.retryPolicy.backoff.first = .zero
        }) { request in
            guard request.path == "/end" else { return .redirect(to: "/end") }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .text("later", status: .serviceUnavailable) : .text("done")
        } perform: { session in
            let body = try await session.get("start").data()
            #expect(body == Data("done".utf8))
        }
        // The retry begins with the request of the caller.
        #expect(har.entries.map(\.response.status) == [302, 503, 302, 200])
        #expect(har.entries[0].response.redirectURL == "/end")
        #expect(har.entries[1].response.content.text == "later")
    }

    @Test(arguments: [ContentCoding.gzip, .deflate])
    func contentIsDecodedWithItsSizes(coding: ContentCoding) async throws {
        let text = String(repeating: "linnet ", count: 1000)
        let coded = try coding.encoded(Data(text.utf8))
        let har = try await recorded { _ in
            MockResponse(
                headerFields: [.contentEncoding: coding.name, .contentType: "text/plain"], body: .bytes(coded))
        } perform: { session in
            #expect(try await session.get("a").data() == Data(text.utf8))
            for try await _ in try await session.get("b").bytes().body {}
        }
        for entry in har.entries {
            let content = entry.response.content
            #expect(content.text == text && content.size == text.utf8.count)
            #expect(entry.response.bodySize == coded.count)
            #expect(content.compression == text.utf8.count - coded.count)
            #expect(entry.response["content-encoding"] == coding.name)
        }
    }

    @Test func contentThatCannotBeDecodedIsRecordedAsItCame() async throws {
        let har = try await recorded { request in
            MockResponse(
                headerFields: [.contentEncoding: request.path == "/a" ? "gzip" : "unknown"], body: .text("no gzip"))
        } perform: { session in
            _ = try? await session.get("a").data()
            _ = try? await session.get("b").data()
        }
        for entry in har.entries {
            #expect(entry.response.content.text == "no gzip" && entry.response.content.custom["_coded"] == true)
        }
    }

    /// A bomb is decoded no further than the limit, and its size is not known then.
    @Test func bodiesAreTruncatedAtTheLimit() async throws {
        let recorder = HARRecorder {
            $0.bodies = .all
            $0.maximumBodySize = 10
        }
        let bomb = try ContentCoding.gzip.encoded(Data(repeating: UInt8(ascii: "x"), count: 100_000))
        let har = try await recorded(.http1, recorder) { request in
            request.path == "/bomb"
                ? MockResponse(headerFields: [.contentEncoding: "gzip"], body: .bytes(bomb)) : .text("123456789éé")
        } perform: { session in
            _ = try await session.put("a").body(.data(Data("abcdefghijkl".utf8))).data()
            _ = try await session.get("bomb").data()
        }
        let (first, second) = (har.entries[0], har.entries[1])
        #expect(first.request.postData?.text == "abcdefghij" && first.request.bodySize == 12)
        #expect(first.request.postData?.comment?.contains("truncated") == true)
        // Half of a character is not text.
        #expect(first.response.content.text == "123456789" && first.response.content.size == 13)
        #expect(first.response.content.comment?.contains("truncated") == true)
        #expect(second.response.content.custom["_truncated"] == true && second.response.content.size == -1)
    }

    @Test func theMemoryIsBounded() async throws {
        let recorder = HARRecorder {
            $0.bodies = .all
            $0.maximumSize = 8000
            $0.maximumEntries = 4
        }
        let body = Data(repeating: UInt8(ascii: "x"), count: 3000)
        let har = try await recorded(.http1, recorder) { _ in
            MockResponse(body: .bytes(body))
        } perform: { session in
            for _ in 0..<6 { _ = try await session.get("a").data() }
        }
        #expect(har.entries.count <= 4 && har.comment?.contains("left out") == true)
        let kept = har.entries.compactMap(\.response.content.text).map(\.utf8.count)
        #expect(kept.reduce(0, +) <= 8000 && kept.first == 3000 && kept.contains { $0 < 3000 })
        recorder.removeAll()
        #expect(recorder.har == HAR())
        let again = try await recorded(.http1, recorder) { _ in
            MockResponse(body: .bytes(body))
        } perform: { session in
            _ = try await session.get("a").data()
        }
        #expect(again.entries.first?.response.content.text?.utf8.count == 3000)
    }

    @Test func bodiesAreNotRecordedUnlessAskedFor() async throws {
        let har = try await recorded(.http1, HARRecorder()) { _ in
            .text("body")
        } perform: { session in
            _ = try await session.post("a").body(.data(Data("secret".utf8))).data()
        }
        let entry = try #require(har.entries.first)
        #expect(entry.response.content.text == nil && entry.response.content.size == 4)
        #expect(entry.request.postData?.text == nil && entry.request.bodySize == 6)
    }

    @Test(arguments: Version.allCases)
    func streamsAndUploadsAreTakenAsTheyPass(version: Version) async throws {
        let pieces = (0..<50).map { Data("piece \($0)\n".utf8) }
        let upload = AsyncStream(Data.self) { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        let whole = String(decoding: pieces.reduce(Data(), +), as: UTF8.self)
        let har = try await recorded(version) { _ in
            MockResponse(body: .chunks(pieces))
        } perform: { session in
            let body = HTTPRequestBody.chunks(upload, length: nil)
            let response = try await session.put("a").body(body).bytes()
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            #expect(count == whole.utf8.count)
            // A body that is left, as by a reader that has found what it wants.
            _ = try await session.get("left").bytes()
        }
        #expect(har.entries[0].request.postData?.text == whole)
        #expect(har.entries[0].response.content.text == whole && har.entries[0].timings.receive >= 0)
        #expect(har.entries[1].response.content.custom["_unread"] == true)
        #expect(har.entries[1].response.content.comment?.contains("not read") == true)
    }

    @Test func failedSendsAreEntries() async throws {
        let recorder = HARRecorder { $0.bodies = .all }
        let har = try await recorded(.http1, recorder) { request in
            request.path == "/half"
                ? MockResponse(body: .text("0123456789")).with(.init(.reset, at: .responseBody(after: 4)))
                : MockResponse.status(.ok).with(.init(.close, at: .responseHead))
        } perform: { session in
            await #expect(throws: SessionError.self) { try await session.post("none").data() }
            await #expect(throws: SessionError.self) {
                for try await _ in try await session.get("half").bytes().body {}
            }
        }
        let none = har.entries[0].response
        #expect(none.status == 0 && none.custom["_error"] == "connectionClosed" && none.comment?.isEmpty == false)
        let half = har.entries[1].response
        #expect(half.status == 200 && half.custom["_error"] != nil && half.comment?.isEmpty == false)
        #expect("0123".hasPrefix(half.content.text ?? ""))
    }

    @Test func aCancelledSendIsAnEntry() async throws {
        let started = Signal()
        let recorder = HARRecorder()
        let har = try await recorded(.http1, recorder) { _ in
            started.fire()
            await Signal().wait()
            return .status(.ok)
        } perform: { session in
            let task = Task { try await session.get("a").data() }
            await started.wait()
            // The send has not ended.
            #expect(recorder.har.entries.first?.comment == "The send had not ended.")
            task.cancel()
            await #expect(throws: SessionError.self) { try await task.value }
        }
        #expect(har.entries.map(\.response.status) == [0])
        #expect(har.entries[0].response.custom["_error"] == "cancelled")
    }

    @Test func entriesAreChangedAndLeftOut() async throws {
        let recorder = HARRecorder {
            $0.edit = { entry in
                var entry = entry
                entry.comment = "seen"
                return entry.request.url.hasSuffix("/left") ? nil : entry
            }
        }
        let har = try await recorded(.http1, recorder) { _ in
            .text("")
        } perform: { session in
            for path in ["a", "left", "b"] { _ = try await session.get(path).data() }
        }
        #expect(har.entries.map(\.comment) == ["seen", "seen"])
    }

    @Test func theTransportIsForwardedTo() async throws {
        let base = StubTransport()
        let transport = HARRecorder().transport(over: base)
        try transport.replaceSecurityPolicy(.systemTrust)
        try transport.replaceClientIdentities(.none)
        #expect(base.securityPolicy != nil && base.clientIdentities != nil)
        await transport.shutdown(.immediate)
        #expect(base.shutdowns == [.immediate])
        let sockets = try makeTransport()
        let recording = HARRecorder().transport(over: sockets)
        #expect(recording.enforcesRequestTimeout && recording.taskExecutors.count == sockets.taskExecutors.count)
        await recording.shutdown(.graceful)
    }
}
