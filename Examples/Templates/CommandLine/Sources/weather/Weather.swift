import Foundation
import Linnet

struct Forecast: Decodable {
    let city: String
    let degrees: Double
}

/// Prints the forecast for a city: `weather https://weather.example.com Vienna`.
@main
struct Weather {
    static func main() async {
        guard CommandLine.arguments.count == 3 else { end("usage: weather URL CITY", 64) }
        do {
            let api = try HTTPSession(baseURL: URL(string: CommandLine.arguments[1])) {
                $0.retryPolicy = RetryPolicy(limit: 2)
                $0.timeouts.request = .seconds(10)
            }
            let call = api.get("forecast", ["city": CommandLine.arguments[2]])
            let forecast = try await call.value(as: Forecast.self)
            print("\(forecast.city): \(forecast.degrees) °C")
            await api.shutdown()
        } catch {
            end("weather: \(error.message)", 1)
        }
    }

    static func end(_ text: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(code)
    }
}
