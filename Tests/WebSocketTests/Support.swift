import Foundation

extension [UInt8] {
    var asData: Data { Data(self) }
}
