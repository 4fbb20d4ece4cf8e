import Foundation
import Linnet
import Synchronization

/// A kind of exchange: its body, and how it ends.
struct Kind: Sendable {
    let name: String
    /// The factor by which their number is reduced, because each takes long.
    var cost = 1
    let perform: @Sendable (_ client: Client, _ worker: Int) async throws -> Void

    static let all = read + left + written + ended
}

// MARK: Bodies that are read to their end

extension Kind {
    private static let read = [
        Kind(name: "whole") { client, _ in
            let response = try await client.session.call(client.request("whole")).response()
            try expect(response.value.count == Server.whole, "\(response.value.count) bytes came.")
        },
        Kind(name: "streamed") { client, _ in
            let response = try await client.session.call(client.request("pieces")).bytes()
            var count = 0
            for try await piece in response.body { count += piece.count }
            try expect(count == Server.pieces * Server.piece, "\(count) bytes came.")
        },
        Kind(name: "not-found") { client, _ in
            try await expectFailure(.unacceptableStatus) {
                try await client.session.call(client.request("not-found")).response()
            }
        },
        Kind(name: "download") { client, worker in
            var options = DownloadOptions()
            options.existingFile = .replace
            _ = try await client.session.call(client.request("pieces")).download(
                to: client.file(worker), options: options)
        },
        Kind(name: "events") { client, _ in
            let response = try await client.session.call(client.request("events")).bytes()
            var count = 0
            for try await _ in response.body.serverSentEvents() { count += 1 }
            try expect(count == Server.events, "\(count) events came.")
        },
        Kind(name: "lines") { client, _ in
            let response = try await client.session.call(client.request("events")).bytes()
            var count = 0
            for try await _ in response.body.lines() { count += 1 }
            try expect(count >= Server.events, "\(count) lines came.")
        },
        Kind(name: "head") { client, _ in
            _ = try await client.session.call(client.request("whole") { $0.method = .head }).response()
        },
        Kind(name: "no-content") { client, _ in
            _ = try await client.session.call(client.request("no-content")).response()
        },
        Kind(name: "redirect") { client, _ in
            let response = try await client.session.call(client.request("redirect")).response()
            try expect(response.value.count == Server.whole, "\(response.value.count) bytes came.")
        },
        Kind(name: "callbacks") { client, _ in
            let result = await withCheckedContinuation { continuation in
                let task = client.session.get("whole").task()
                task.onCompletion { result in
                    switch result {
                    case .success(let response): continuation.resume(returning: response.value.count)
                    case .failure: continuation.resume(returning: -1)
                    }
                }
                task.resume()
            }
            try expect(result == Server.whole, "\(result) bytes came.")
        },
        Kind(name: "handle") { client, _ in
            let task = try client.session.call(client.request("whole")).task(DataResponseSerializer())
            task.resume()
            let count = try await task.value.value.count
            try expect(count == Server.whole, "\(count) bytes came.")
        },
    ]
}

// MARK: Bodies that are not read to their end

extension Kind {
    private static let left = [
        Kind(name: "unread") { client, _ in
            _ = try await client.session.call(client.request("pieces")).bytes()
        },
        Kind(name: "left-in-the-middle") { client, _ in
            for try await _ in try await client.session.call(client.request("pieces")).bytes().body { break }
        },
        Kind(name: "reader-cancelled") { client, _ in
            let began = AsyncStream<Void>.makeStream()
            let reader = Task {
                for try await _ in try await client.session.call(client.request("stalls")).bytes().body {
                    began.continuation.yield()
                }
            }
            for await _ in began.stream { break }
            reader.cancel()
            try await expectFailure(.cancelled) { try await reader.value }
        },
        Kind(name: "closed-by-server") { client, _ in
            try await expectFailure(.connectionLost, .invalidResponse) {
                try await client.session.call(client.request("closes")).response()
            }
        },
        Kind(name: "closed-while-streamed") { client, _ in
            try await expectFailure(.connectionLost, .invalidResponse) {
                for try await _ in try await client.session.call(client.request("closes")).bytes().body {}
            }
        },
        Kind(name: "download-cancelled") { client, worker in
            let task = try client.session.call(client.request("stalls")).downloadTask(to: client.file(worker))
            let began = AsyncStream<Void>.makeStream()
            let observation = task.onProgress { if $0.download.completed > 0 { began.continuation.yield() } }
            task.resume()
            for await _ in began.stream { break }
            task.cancel()
            try await expectFailure(.cancelled) { try await task.value }
            observation.cancel()
        },
    ]
}

// MARK: Bodies that are sent

extension Kind {
    private static let written = [
        Kind(name: "upload-whole") { client, _ in
            let request = try client.request("upload") {
                $0.method = .post
                $0.body = .data(client.upload)
            }
            _ = try await client.session.call(request).response()
        },
        Kind(name: "upload-streamed") { client, _ in
            let request = try client.request("upload") {
                $0.method = .post
                $0.body = .stream(length: nil, isReplayable: true) {
                    Pieces(left: 16, piece: client.upload.prefix(4096))
                }
            }
            _ = try await client.session.call(request).response()
        },
        Kind(name: "upload-refused") { client, _ in
            let request = try client.request("refused") {
                $0.method = .post
                $0.body = .stream(length: nil, isReplayable: true) { Pieces(left: 64, piece: client.upload) }
            }
            try await expectFailure(.unacceptableStatus, .connectionLost) {
                try await client.session.call(request).response()
            }
        },
    ]

    private struct Pieces: HTTPRequestBodyReader {
        var left: Int
        let piece: Data

        mutating func next() async throws -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return piece
        }
    }
}

// MARK: Other ends

extension Kind {
    private static let ended = [
        Kind(name: "timeout", cost: 4) { client, _ in
            let request = try client.request("stalls") { $0.options.timeout = .milliseconds(20) }
            try await expectFailure(.timeout) { try await client.session.call(request).response() }
        },
        Kind(name: "cancelled-at-once") { client, _ in
            let task = try client.session.call(client.request("stalls")).task(DataResponseSerializer())
            task.resume()
            task.cancel()
            try await expectFailure(.cancelled) { try await task.value }
        },
        Kind(name: "never-begun") { client, _ in
            let task = try client.session.call(client.request("pieces")).task(DataResponseSerializer())
            task.cancel()
            try await expectFailure(.cancelled) { try await task.value }
        },
        Kind(name: "suspended") { client, _ in
            let task = try client.session.call(client.request("stalls")).task(DataResponseSerializer())
            task.resume()
            task.suspend()
            task.cancel()
            try await expectFailure(.cancelled) { try await task.value }
        },
        Kind(name: "session", cost: 10) { client, _ in
            let session = try HTTPSession(
                baseURL: client.base, configuration: Client.configuration(client.wire, client.anchors))
            _ = try await session.call(client.request("whole")).response()
            await session.shutdown()
        },
        Kind(name: "session-dropped", cost: 10) { client, _ in
            let session = try HTTPSession(
                baseURL: client.base, configuration: Client.configuration(client.wire, client.anchors))
            let task = try session.call(client.request("whole")).task(DataResponseSerializer())
            task.resume()
            _ = try await task.value
            Task { await session.shutdown(.immediate) }
        },
    ]
}
