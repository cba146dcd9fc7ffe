#pragma once

// Swift's: makes the program that is tested the process's own. Called before main.
void adopt_tested_program(void);
