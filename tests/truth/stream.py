"""A competing job's traffic: `stream.py receive PORT` and `stream.py send HOST PORT CONNECTIONS`, until killed."""
import socket
import sys
import threading


def drain(connection):
    while connection.recv(1 << 16):
        pass


def receive(port):
    server = socket.create_server(("", port))
    print("ready", flush=True)
    while True:
        connection, _ = server.accept()
        threading.Thread(target=drain, args=(connection,), daemon=True).start()


def push(host, port):
    with socket.create_connection((host, port)) as connection:
        block = bytes(1 << 16)
        while True:
            connection.sendall(block)


def main():
    if sys.argv[1] == "receive":
        receive(int(sys.argv[2]))
    threads = [threading.Thread(target=push, args=(sys.argv[2], int(sys.argv[3]))) for _ in range(int(sys.argv[4]))]
    for thread in threads:
        thread.start()


main()
