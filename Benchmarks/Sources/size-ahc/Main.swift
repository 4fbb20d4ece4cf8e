import AsyncHTTPClient

/// One GET without pinning, which async-http-client does not support: size-ahc URL
@main
struct Main {
    static func main() async throws {
        let request = HTTPClientRequest(url: CommandLine.arguments[1])
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        print(response.status.code, body.readableBytes)
    }
}
