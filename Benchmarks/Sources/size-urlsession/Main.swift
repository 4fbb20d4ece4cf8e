import Foundation
import FoundationNetworking

/// One GET without pinning, which URLSession does not support on Linux: size-urlsession URL
@main
struct Main {
    static func main() async throws {
        guard let url = URL(string: CommandLine.arguments[1]) else { return }
        let (data, response) = try await URLSession.shared.data(from: url)
        print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
    }
}
